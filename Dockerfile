# The studio in a container: plurivox studio serve /studies/STUDY.
#   docker build -t plurivox-studio .
#   docker run --rm -v studies:/studies -v "$PWD/photos:/items:ro" plurivox-studio \
#       new /studies/pets --items /items --labels cat,dog,ship
#   docker run -p 8000:8000 -v studies:/studies plurivox-studio serve /studies/pets --host 0.0.0.0 --base-url https://study.example.org

FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src src
RUN python -m venv /opt/plurivox \
 && /opt/plurivox/bin/pip install --no-cache-dir --disable-pip-version-check -c constraints.txt '.[web,plot]' \
 && /opt/plurivox/bin/pip uninstall --yes --quiet --disable-pip-version-check pip

FROM python:3.12-slim
COPY --from=build /opt/plurivox /opt/plurivox
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin studio \
 && install -d -o studio -g studio -m 700 /studies
ENV PATH=/opt/plurivox/bin:$PATH PYTHONUNBUFFERED=1 NUMBA_CACHE_DIR=/tmp/numba MPLCONFIGDIR=/tmp/matplotlib
USER studio
WORKDIR /studies
VOLUME /studies
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["plurivox", "studio"]
CMD ["serve", "/studies/study", "--host", "0.0.0.0"]
