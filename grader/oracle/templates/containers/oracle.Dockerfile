# The oracle. `source` is a checkout of its project; nothing of it reaches the task's container.
FROM python:3.12-slim
COPY --from=source . /source
RUN pip install --no-cache-dir "/source[serve]" && rm -rf /source
RUN useradd --uid 5000 --create-home oracle && mkdir -p /usage /cache && chown oracle /usage /cache
ENV PYNES_REF_CACHE=/cache PYTHONDONTWRITEBYTECODE=1
USER oracle
# Compiled once, here: the running container is read-only.
RUN pynes-ref warm
EXPOSE 8001
HEALTHCHECK --interval=5s --timeout=3s --start-period=120s --retries=24 \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8001/health', timeout=2)"]
CMD ["oracle", "serve", "/roms", "--host", "0.0.0.0", "--port", "8001", "--usage", "/usage/frames.json"]
