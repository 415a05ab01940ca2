# Pushes the inventory to a branch of its own, in place of what was there; the pull request is made by the repository.
set -eu
cd "$HOME/repository"
branch="refs/heads/inventory/$CLUSTER"
remote() { git -c credential.helper='store --file=/git/.git-credentials' "$@"; }
git add -- "$FILE"
if git diff --cached --quiet; then
  echo "the inventory of $CLUSTER is as it was"
  # What an earlier run has pushed is not what the nodes are now.
  stale=$(remote ls-remote origin "$branch")
  if [ -n "$stale" ]; then
    remote push --quiet --delete origin "$branch"
    echo "removed inventory/$CLUSTER, whose nodes were others"
  fi
  exit 0
fi
git -c user.name=krmfn -c user.email=krmfn@example.com commit --quiet --message "inventory: the nodes of $CLUSTER"
remote push --quiet --force origin "HEAD:$branch"
echo "pushed to inventory/$CLUSTER"
