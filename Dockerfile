# One image for every process: the command says which. See docker-compose.yml.
FROM node:22.23.3-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --include=dev --include=optional
COPY . .
RUN node build/build.mjs && npm prune --omit=dev && node build/prune-image.mjs

FROM node:22.23.3-bookworm-slim
# Temporal's client is native code and reads the system's certificates: without them Temporal Cloud cannot be reached.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
# One arena of glibc's malloc: a worker peaks some 40 MB lower under a campaign.
ENV NODE_ENV=production HOST=0.0.0.0 MALLOC_ARENA_MAX=1
WORKDIR /app
# `docker compose exec api npm run doctor`, and the same for `operator` and `tidings`.
COPY --from=build /app/package.json /app/run.mjs ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
EXPOSE 3000
CMD ["node", "--enable-source-maps", "dist/cli/api.js"]
