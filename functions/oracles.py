"""Who holds the claims of rules: the programs that tests ask, what was recorded of them, the texts that were read."""

from .rule import Oracle

_E2E = "tests/e2e/test_"

# Programs that a test asks.

APISERVER = Oracle("engine", "kube-apiserver", f"{_E2E}apiserver.py")
APISERVER_DAEMONSETS = Oracle("engine", "kube-apiserver", f"{_E2E}daemonset_checks.py")
APISERVER_KINDS = Oracle("engine", "kube-apiserver", f"{_E2E}crds.py")
APISERVER_PODS = Oracle("engine", "kube-apiserver", f"{_E2E}pods.py")
APISERVER_SCHEMAS = Oracle("engine", "kube-apiserver", f"{_E2E}profile_schemas.py")
ARGOCD_DIRECTORIES = Oracle(
    "engine", "argocd-repo-server, argocd-application-controller", f"{_E2E}argocd_directories.py"
)
ARGOCD_PATHS = Oracle("engine", "Argo CD's libraries", f"{_E2E}argocd_paths.py")
ARGOCD_LOOP = Oracle("engine", "argocd-repo-server, argocd-application-controller", f"{_E2E}argocd_loop.py")
DAEMONSETS = Oracle("engine", "kube-controller-manager", f"{_E2E}daemonsets.py")
FLUX = Oracle("engine", "kustomize-controller", f"{_E2E}flux.py")
FLUX_FOLDERS = Oracle("engine", "Flux's libraries", f"{_E2E}flux_library.py")
FLUX_SUBSTITUTION = Oracle("engine", "Flux's libraries", f"{_E2E}flux_library.py")
GARBAGE_COLLECTOR = Oracle("engine", "kube-controller-manager", f"{_E2E}adopt.py")
KPT_LIVE = Oracle("engine", "kpt live", f"{_E2E}kpt_live.py")
KUSTOMIZE = Oracle("engine", "kustomize", f"{_E2E}kustomize.py")
KUSTOMIZE_BUILDS = Oracle("engine", "kustomize", f"{_E2E}builds.py")
KUSTOMIZE_CONFIG = Oracle("engine", "kustomize", f"{_E2E}kustomize_config.py")
KUSTOMIZE_EXAMPLES = Oracle("engine", "kustomize", f"{_E2E}rule_examples.py")
KUSTOMIZE_GRAPH = Oracle("engine", "kustomize", f"{_E2E}graph.py")
KUSTOMIZE_GUARDS = Oracle("engine", "kustomize", f"{_E2E}kustomize_guards.py")
KUSTOMIZE_PLACES = Oracle("engine", "kustomize", f"{_E2E}places.py")
KUSTOMIZE_TESTS = Oracle("engine", "kustomize's own tests", f"{_E2E}krusty.py")
KUSTOMIZE_TRICKS = Oracle("engine", "kustomize", f"{_E2E}tricks.py")
TWO_READERS = Oracle("engine", "kustomize's libraries, apimachinery's decoder", f"{_E2E}two_readings.py")
KUSTOMIZE_PAGE = Oracle("engine", "kustomize", f"{_E2E}kustomize_page.py")

# What programs were seen to do, played by a test.

CONTROLLERS = Oracle("recording", "KMM's controllers, 455 fleets", "tests/functions/kmm/test_scheduling.py")
CHANGES = Oracle("recording", "KMM's controllers, 455 fleets", "tests/functions/upgrades/test_recorded_changes.py")
HISTORIES = Oracle("recording", "KMM's controllers, histories", "tests/functions/upgrades/test_histories.py")

# What was read.

WEBHOOK = Oracle("reference", "KMM v2.4.0 to main, internal/webhook/module.go")
WEBHOOK_NAMESPACE = Oracle("reference", "KMM v2.6.0 and main, internal/webhook/namespace.go")
DECODING = Oracle("reference", "k8s.io/api v0.32 and v0.35, core/v1, decoded by k8s.io/apimachinery")
META = Oracle("reference", "k8s.io/apimachinery v0.34, pkg/api/validation (ValidateObjectMeta)")
MODULE_CONTROLLER = Oracle("reference", "KMM v2.6.0 and main, internal/controllers/module_reconciler.go")
NODES_CONTROLLER = Oracle("reference", "KMM v2.6.0 and main, internal/controllers/nmc_reconciler.go")
LABEL_CONTROLLER = Oracle(
    "reference", "KMM v2.0.0 to main (de3f8c9), internal/controllers/node_label_module_version_reconciler.go"
)
PLUGIN_CONTROLLER = Oracle("reference", "KMM v2.6.0, internal/controllers/device_plugin_reconciler.go")
DRA_CONTROLLER = Oracle("reference", "KMM main (de3f8c9), internal/controllers/dra_reconciler.go")
IMAGES_CONTROLLER = Oracle("reference", "KMM v2.6.0 and main (de3f8c9), internal/mic/mic.go, mic_reconciler.go")
IMAGE_PODS = Oracle("reference", "KMM v2.4.0 to main, internal/pod/imagepuller.go")
BUILDS = Oracle("reference", "KMM v2.6.0 and main (de3f8c9), internal/build; the Dockerfile reference")
KERNEL_MAPPINGS = Oracle("reference", "KMM v2.4.0 to main, internal/module/kernelmapper.go")
TEMPLATES = Oracle("reference", "KMM v2.4.0 to main, internal/utils (ReplaceInTemplates)")
WORKER = Oracle("reference", "KMM v2.4.0 to main, cmd/worker; modprobe(8) of kmod 31")
OPERATOR_CONFIG = Oracle("reference", "KMM main (de3f8c9) and the fork's release-2.7, internal/config/config.go")
PREFLIGHT = Oracle("reference", "KMM v2.6.0, internal/webhook/preflightvalidation.go")
BOOT_MODULES = Oracle("reference", "the OpenShift fork, docs/mkdocs/documentation/day1_limited_option.md")
HUB = Oracle("reference", "KMM main (de3f8c9), internal/manifestwork/manifestwork.go")
GO_REGEXPS = Oracle("reference", "Go 1.26, regexp/syntax")
IMAGE_NAMES = Oracle("reference", "github.com/distribution/reference, regexp.go")
KUBERNETES_LABELS = Oracle(
    "reference", "Kubernetes 1.34, labels and selectors; k8s.io/apimachinery, pkg/util/validation"
)
KUBERNETES_PODS = Oracle("reference", "Kubernetes 1.34, pkg/apis/core/validation")
KUBERNETES_APPS = Oracle("reference", "Kubernetes 1.34, pkg/apis/apps/validation")
KUBERNETES_SERVICES = Oracle("reference", "Kubernetes 1.34, Service; pkg/apis/core/validation")
KUBERNETES_RIGHTS = Oracle("reference", "Kubernetes 1.34, Using RBAC Authorization and RBAC Good Practices")
KUBERNETES_TAINTS = Oracle("reference", "Kubernetes 1.34, Taints and Tolerations")
KUBERNETES_UPDATES = Oracle("reference", "Kubernetes 1.34, Perform a Rolling Update on a DaemonSet")
SHELL = Oracle("reference", "POSIX.1-2017, Shell Command Language")
SERVER_SIDE_APPLY = Oracle("reference", "Kubernetes 1.34, Server-Side Apply")
POD_SECURITY = Oracle("reference", "Kubernetes 1.34, Pod Security Standards; k8s.io/pod-security-admission/policy")
OPENSHIFT = Oracle("reference", "OpenShift, Managing security context constraints")
KUSTOMIZE_SOURCE = Oracle("reference", "kustomize 5.8, api/internal/target and kyaml/kio")
GITOPS_ENGINE = Oracle("reference", "Argo CD 3.2, gitops-engine pkg/sync; Flux, kustomize-controller; Helm, pkg/action")
ENGINE_KINDS = Oracle("reference", "Argo CD 3.2, Flux 2.9 and Fleet 0.13: their kinds and their documentation")
FLEET_BUNDLES = Oracle(
    "reference", "Fleet 0.13, internal/bundlereader/loaddirectory.go, internal/helmdeployer/kustomize"
)
FLUX_FILES = Oracle("reference", "Flux, source-controller 1.6, docs/spec/v1/gitrepositories.md")
FLUX_KUSTOMIZATION = Oracle("reference", "Flux, Kustomization v1, spec.postBuild")

# What the function itself defines.

OUR_KINDS = Oracle("own", "the kinds and annotations of krmfn.dev (docs/reference/deviceconfig.md, docs/vendors.md)")
OUR_FILES = Oracle("own", "what krmfn reads of a repository (docs/reference/commands/paths.md)")
OUR_MARKS = Oracle("own", "which objects krmfn made and may change (docs/reference/contracts.md)")
OUR_EXCLUSIVITY = Oracle("own", "one config of a profile for a node (docs/reference/deviceconfig.md)")
OUR_NODES = Oracle("own", "what krmfn knows of nodes: NodeInventory, `--live` (docs/reference/commands/inventory.md)")
OUR_LIMITS = Oracle("own", "the work that a run may take (docs/internals/algorithms.md)")

# What nobody was asked.

REGISTRY = Oracle("none", "no registry was asked for what is in the image")
VENDORS = Oracle("none", "no operator of a vendor was run beside krmfn's objects")
NFD = Oracle("none", "no Node Feature Discovery was run")
WRAPPERS = Oracle("none", "no controller that unwraps was run, and what is inside is not judged")
TOOLS = Oracle("none", "the tool that reads the files was not run")
