"""Which kernels get another result from changed mappings, against every kernel tried."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kmm.module import Module
from krmfn_functions.kmm.resolution import compared_fields, first_mapping
from krmfn_functions.upgrades.impact import changed_kernels

from tests.builders import module

REGEXPS = [
    *("^.+$", "^5", "^5.1", r"^5\.1", r"^5\.\d4", "^5*", "^5|^6"),
    *("el9", "el9$", "^6", r"^(5|6)\.1", "^.*el", "^5x?", "^5?6"),
]
LITERALS = ["5.14.0-1.el9", "6.1.0-el9", "5.15.0"]
KERNELS = [*LITERALS, "5.14.0-2.el9_5", "5.1.0", "6.1.0", "6.12.0-el10", "4.18.0-el8", "511.0.0", "x5.1.0-el9"]
MAPPING = st.builds(
    lambda where, image: {where[0]: where[1], "containerImage": f"r/drv:{image}"},
    st.sampled_from([*(("regexp", regexp) for regexp in REGEXPS), *(("literal", kernel) for kernel in LITERALS)]),
    st.sampled_from("12"),
)
MODULES = st.lists(MAPPING, min_size=1, max_size=5).map(lambda entries: Module(module(*entries)))


@given(MODULES, MODULES)
def test_no_kernel_with_another_result_is_passed_over(old: Module, new: Module) -> None:
    changes = {(change.old, change.new) for change in changed_kernels(old, new)[0]}
    for kernel in KERNELS:
        before, after = first_mapping(old, kernel), first_mapping(new, kernel)
        if before is None:
            continue
        fields = compared_fields(old, old.mappings[before])
        if after is None or fields != compared_fields(new, new.mappings[after]):
            assert (before, after) in changes
