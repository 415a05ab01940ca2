# Lists the nodes; what krmfn does not keep of them stays in this volume.
set -eu
kubectl get nodes --output json > "$HOME/nodes.json"
