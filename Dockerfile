# The program as a container image: the KRM function for kustomize and kpt, the command for an Argo CD sidecar:
#     docker build --build-arg BASE=docker.io/library/python:3.13-slim-bookworm -t krmfn .
# BASE is any image with python3 (3.10 or newer, with venv), best by its digest. `make release` builds both images.
ARG BASE
# Any image with /app/kustomize; only the target `argocd` needs it.
ARG KUSTOMIZE_IMAGE=registry.k8s.io/kustomize/kustomize:v5.8.2

FROM ${BASE} AS build
ENV PYTHONHASHSEED=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
COPY requirements/build.txt requirements/run.txt requirements/
RUN python3 -m venv /opt/krmfn && python3 -m venv /build \
 && /opt/krmfn/bin/pip install --require-hashes --only-binary :all: -r requirements/run.txt \
 && /build/bin/pip install --require-hashes -r requirements/build.txt
COPY LICENSE README.md pyproject.toml ./
COPY functions functions
COPY docs/sdk.md docs/sdk.md
COPY krmfn krmfn
COPY schemas schemas
COPY examples/vendor-profiles examples/vendor-profiles
COPY gitops/ci gitops/ci
COPY sdk sdk
# Bytecode that is never checked against its source: the final file system is read-only. The commands are isolated (-I):
# no module comes from the working folder, whatever PYTHONPATH says.
RUN /build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /dist ./sdk . \
 && /opt/krmfn/bin/pip install --no-deps --no-index --no-compile /dist/*.whl \
 && /opt/krmfn/bin/pip uninstall --yes pip setuptools \
 && sed -i '1s/$/ -IB/' /opt/krmfn/bin/krmfn /opt/krmfn/bin/deviceconfig /opt/krmfn/bin/ptemplate \
 && /opt/krmfn/bin/python -m compileall -q -f --invalidation-mode unchecked-hash /opt/krmfn/lib

FROM ${BASE} AS krmfn
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title=krmfn \
      org.opencontainers.image.description="DeviceConfigs to KMM Modules: a KRM function, and the command krmfn" \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.version=${VERSION} \
      org.opencontainers.image.revision=${REVISION}
# Some base images leave the bytecode of Python's own library out.
RUN PYTHONHASHSEED=0 python3 -c 'import compileall, sysconfig; compileall.compile_dir(sysconfig.get_path("stdlib"), maxlevels=3, quiet=2)'
COPY --from=build /opt/krmfn /opt/krmfn
ENV PATH=/opt/krmfn/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /

FROM ${KUSTOMIZE_IMAGE} AS kustomize

# The sidecar of Argo CD's repo-server (gitops/argocd): the same command with --target argocd.
# Its server comes from a volume that the repo-server fills.
FROM krmfn AS argocd
LABEL org.opencontainers.image.title=krmfn-argocd
COPY --from=kustomize /app/kustomize /usr/local/bin/kustomize
USER 999:999
ENTRYPOINT ["/var/run/argocd/argocd-cmp-server"]

FROM krmfn
USER 65532:65532
ENTRYPOINT ["krmfn"]
