"""Lints about images: unknown variables, what is no reference of an image, and tags that move."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from krmfn import Field, KrmfnError, Manifest, Result, error, warning
from krmfn.resource import join, ref
from krmfn.typed import NamedTuple

from ... import oracles
from ...image_reference import REMEDY, mistake, shortened, without_variables
from ...rule import Rule, apply
from ..envsubst import parse, substitute, variables
from ..lookup import pod_images, table, text, texts
from ..module import CONTAINER, EVERY_KERNEL, KERNEL_VARIABLES, MAPPINGS, VARIABLES, Module
from ..rule import quote

_KERNEL = "6.1.0-1.x86_64"


class Template(NamedTuple):
    """A text with variables, and what KMM makes of it for a node."""

    text: str
    known: tuple[str, ...]
    """The variables that KMM knows there."""
    is_image: bool = True
    takes_every_kernel: bool = False
    """Whether it is the image of a kernel mapping that matches every kernel."""
    names: Sequence[str] | None = None
    """The variables whose values are in the result; None for an unclosed brace."""
    image: str | None = None
    mistake: str = ""
    """Why no runtime takes the image (KRM224)."""
    pullable: str = ""
    """The image, unless KMM refuses it or no runtime takes it."""
    kernel: str = _KERNEL
    """The kernel that it is tried with: the mapping's own where that names one."""


def check(module: Module) -> Iterator[Result]:
    """Yield the lints about all images, then about the files to sign."""
    catch_alls, literals = set(), dict[str, str]()
    for index, entry in enumerate(module.mappings):
        if text(entry, "regexp") in EVERY_KERNEL:
            catch_alls.add(f"{MAPPINGS}[{index}]" if text(entry, "containerImage") else CONTAINER)
        if literal := text(entry, "literal"):
            literals[f"{MAPPINGS}[{index}"] = literal
    for path, image, known in module.images():
        takes_every_kernel = path.removesuffix(".containerImage") in catch_alls
        kernel = literals.get(path.partition("]")[0], "") if "$" in image else ""
        template = Template(image, known, takes_every_kernel=takes_every_kernel, kernel=kernel or _KERNEL)
        yield from _located(path, template, module.ref.name, module.ref.namespace)
    for path, sign in module.sections("sign"):
        for index, file in enumerate(texts(sign, "filesToSign")):
            yield from _located(f"{path}.filesToSign[{index}]", Template(file, KERNEL_VARIABLES, is_image=False))


def check_pods(workload: Manifest) -> Iterator[Result]:
    """Yield the lints about the images of a DaemonSet's containers; KMM substitutes no variables there."""
    pod = table(workload, "spec", "template", "spec")
    for path, image in pod_images(pod):
        for finding in _located("", Template(image, ())):
            field = Field(join(("spec", "template", "spec", *path)), image)
            yield finding._replace(field=field, ref=ref(workload))


def _located(path: str, template: Template, name: str = "", namespace: str = "") -> Iterator[Result]:
    """Yield the lints about the text at a path, in a Module of this name and namespace."""
    owner = (name or "x", namespace or "x") if "MOD_NAME" in template.text else ("", "")
    for finding in _findings(template, *owner):
        yield finding._replace(field=Field(path, template.text))


@lru_cache(maxsize=1024)
def _findings(template: Template, name: str, namespace: str) -> tuple[Result, ...]:
    """Return the lints about a text, without its path; cached, since many Modules have equal texts."""
    try:
        parts = parse(template.text)
    except KrmfnError:
        return tuple(apply(RULES, template))
    value_parts = [part for part in parts if part.name in VARIABLES or part.operator in ("", "+", ":+")]
    defaults = [part.default for part in parts if part.default]
    names = [part.name for part in (*value_parts, *defaults) if part.name is not None]
    template = template._replace(names=names)
    if template.is_image:
        values = {**_variables(template.kernel), "MOD_NAME": name, "MOD_NAMESPACE": namespace}
        known = {name: values[name] for name in template.known}
        image = substitute(template.text, known) if known else template.text
        is_refused = bool(known) and ":" not in template.text
        problem = mistake(image if known else without_variables(image))
        template = template._replace(image=image, mistake=problem, pullable="" if is_refused or problem else image)
    return tuple(apply(RULES, template))


def _variables(kernel: str) -> dict[str, str]:
    """Return KMM's variables for a kernel; those of another for one that KMM fails on."""
    try:
        return variables(kernel.removesuffix("+"))
    except KrmfnError:
        return variables(_KERNEL)


def _braces_are_closed(template: Template) -> Iterator[Result]:
    if template.known and template.names is None:
        consequence = "KMM accepts it and then fails on every node"
        yield error(
            f"{quote(template.text)} has a ${{ that is not closed by a }}: {consequence}", remedy="add the missing }"
        )


KRM221 = Rule(
    "KRM221",
    "every ${ must be closed: KMM accepts the Module and then fails on every node",
    good="spec: {moduleLoader: {container: {containerImage: 'registry.example.com/gpu:${KERNEL_FULL_VERSION}'}}}\n",
    bad="spec: {moduleLoader: {container: {containerImage: 'registry.example.com/gpu:${KERNEL_FULL_VERSION'}}}\n",
    remedy="Add the missing }.",
    held=oracles.TEMPLATES,
    check=_braces_are_closed,
    advice=True,
)


def _variables_are_known(template: Template) -> Iterator[Result]:
    for name in dict.fromkeys(template.names or ()) if template.known else ():
        if name not in template.known:
            suffix = " here" if name in VARIABLES else ""
            yield warning(
                f"KMM sets no variable {name}{suffix}, so it is empty", remedy=f"use one of {', '.join(template.known)}"
            )


KRM222 = Rule(
    "KRM222",
    "a template should only use variables that KMM sets; any other one becomes empty silently",
    good="spec: {moduleLoader: {container: {containerImage: 'registry.example.com/gpu:1.0-${KERNEL_XYZ}'}}}\n",
    bad="spec: {moduleLoader: {container: {containerImage: 'registry.example.com/gpu:1.0-${KERNEL}'}}}\n",
    remedy="Write one of the variables that the finding names.",
    held=oracles.TEMPLATES,
    check=_variables_are_known,
    severities=("warning",),
    advice=True,
)


def _plugin_images_have_no_variables(template: Template) -> Iterator[Result]:
    if not template.known and "$" in template.text:
        yield warning(
            f"no variables are substituted here; the image would be {quote(template.text)}, unchanged",
            remedy="write the full tag",
        )


KRM223 = Rule(
    "KRM223",
    "images of device plugins, DRA drivers and DaemonSets should not contain variables: none are substituted there",
    good='spec: {devicePlugin: {container: {image: "registry.example.com/plugin:1.0"}}}\n',
    bad='spec: {devicePlugin: {container: {image: "registry.example.com/plugin:1.0-$KERNEL_FULL_VERSION"}}}\n',
    remedy="Write the full tag: one image has to serve all kernels.",
    held=oracles.PLUGIN_CONTROLLER,
    check=_plugin_images_have_no_variables,
    severities=("warning",),
    advice=True,
)


def _image_is_a_reference(template: Template) -> Iterator[Result]:
    if not template.mistake or template.image is None:
        return
    subject = quote(shortened(template.image))
    if template.image != template.text:
        subject = f"comes out as {subject}, for example on kernel {template.kernel}, which"
    yield error(f"{subject} {template.mistake}, so no runtime can pull it", remedy=REMEDY)


KRM224 = Rule(
    "KRM224",
    "an image must be a reference that container runtimes parse once its variables are filled in",
    good="spec: {moduleLoader: {container: {containerImage: 'registry.example.com/gpu:${KERNEL_FULL_VERSION}'}}}\n",
    bad="spec: {moduleLoader: {container: {containerImage: 'registry.example.com/gpu:v1:${KERNEL_FULL_VERSION}'}}}\n",
    remedy="Write `host:port/path:tag` or `host:port/path@sha256:...`, with small letters in the path and at most 128 "
    "letters, digits, '_', '.' and '-' in the tag. Correct a variable that becomes empty: KMM sets those that begin "
    "with KERNEL_ or MOD_.",
    held=oracles.IMAGE_NAMES,
    check=_image_is_a_reference,
    advice=True,
)


def _tag_does_not_move(template: Template) -> Iterator[Result]:
    if not template.pullable or "@" in template.pullable:
        return
    if (tag := template.pullable.rpartition("/")[2].partition(":")[2]) in ("", "latest"):
        problem = "the tag latest" if tag else "no tag, which means latest"
        message = f"has {problem}: the image that it names can change without a change in Git"
        yield warning(message, remedy="write a version or a digest")


KRM225 = Rule(
    "KRM225",
    "an image should have a digest or a tag that does not change; `latest` changes, and no tag means `latest`",
    good='spec: {devicePlugin: {container: {image: "registry.example.com/plugin:1.0"}}}\n',
    bad='spec: {devicePlugin: {container: {image: "registry.example.com/plugin:latest"}}}\n',
    remedy="Write a version or a digest.",
    held=oracles.REGISTRY,
    check=_tag_does_not_move,
    severities=("warning",),
    advice=True,
)


def _image_is_for_its_kernels(template: Template) -> Iterator[Result]:
    names = [name for name in template.names or () if name in KERNEL_VARIABLES]
    if template.known and template.is_image and names and "@" in template.text:
        yield warning(
            f"has a digest, which is one image for every kernel, so ${names[0]} in it changes nothing",
            remedy="remove the variable, or write a tag",
        )
    elif template.takes_every_kernel and not names and template.pullable:
        message = "is one image for every kernel, so it has to hold a kernel module for each"
        yield warning(message, remedy="put $KERNEL_FULL_VERSION into its tag, or name its kernels in the mapping")


KRM226 = Rule(
    "KRM226",
    "an image for every kernel should name the kernel in its tag; an image with a digest is the same for every kernel",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:1.0"}]
""",
    remedy="Put $KERNEL_FULL_VERSION into the tag, or write a mapping for the kernels that the image is built for. "
    "Turn the rule off if the image contains a kernel module for each kernel.",
    held=oracles.REGISTRY,
    check=_image_is_for_its_kernels,
    severities=("warning",),
    advice=True,
)


RULES = (KRM221, KRM222, KRM223, KRM224, KRM225, KRM226)
