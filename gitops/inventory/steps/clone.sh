# Clones the branch that is deployed.
set -eu
cd "$HOME"
git -c credential.helper='store --file=/git/.git-credentials' clone --quiet --depth 1 --branch "$BRANCH" "$REPOSITORY" repository
