# Pushes the inventory to a branch of its own, in place of what was there; the pull request is made by the repository.
set -eu
cd "$HOME/repository"
git add -- "$FILE"
if git diff --cached --quiet; then
  echo "the inventory of $CLUSTER is as it was"
  exit 0
fi
git -c user.name=krmfn -c user.email=krmfn@example.com commit --quiet --message "inventory: the nodes of $CLUSTER"
git -c credential.helper='store --file=/git/.git-credentials' push --quiet --force origin "HEAD:refs/heads/inventory/$CLUSTER"
echo "pushed to inventory/$CLUSTER"
