# syntax=docker/dockerfile:1
# A release names the base by digest: --build-arg BASE=python:3.13-slim@sha256:...
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
ENV PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /checkout
COPY packaging/install.sh packaging/backend.lock packaging/
COPY requirements.lock ./
RUN packaging/install.sh dependencies /opt/gpustack-ctrl
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN packaging/install.sh project /opt/gpustack-ctrl

FROM ${BASE}
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="gpustack-ctrl" \
      org.opencontainers.image.description="A Kubernetes operator that runs GPU Instances" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.source="${SOURCE}"
# Nothing can be installed into a running operator.
RUN python -m pip uninstall --yes --quiet --root-user-action=ignore pip
COPY --from=build /opt/gpustack-ctrl /opt/gpustack-ctrl
ENV PATH=/opt/gpustack-ctrl/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# By number: Kubernetes cannot tell from a name that it is not root.
USER 65532:65532
WORKDIR /
EXPOSE 8080 8081
ENTRYPOINT ["gpustack-ctrl"]
CMD ["run"]
