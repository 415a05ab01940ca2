# Writes the inventory: the labels that selectors in PATHS use, kernels, taints. All or nothing.
set -eu
cd "$HOME/repository"
# shellcheck disable=SC2086 # several paths may be divided by spaces
krmfn inventory "$HOME/nodes.json" --for $PATHS --name "$CLUSTER" --taken-on "$(date -u +%F)" --output "$FILE"
