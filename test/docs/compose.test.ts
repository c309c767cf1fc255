import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../cli/package-root.ts';
import { parseConfig } from '../../rules/config.ts';

const compose = readFileSync(join(packageRoot(), 'docker-compose.yml'), 'utf8');
const { services, configs } = parse(compose, { merge: true });
const dockerfile = readFileSync(join(packageRoot(), 'Dockerfile'), 'utf8');
const SET = { SECRET_KEY: 'a'.repeat(64), POSTGRES_PASSWORD: 'b'.repeat(32) };

/** Replaces `${NAME:-default}` and `${NAME:?what to set}` as Docker Compose does. */
function fillIn(text: string, env: Record<string, string>): string {
  return text.replaceAll(
    /\$\{(\w+):[-?]([^}]*)\}/g,
    (all, name, rest) => env[name] ?? (all.includes(':-') ? rest : ''),
  );
}

/** Returns the HOST of the image and the variables that docker-compose.yml sets for the API. */
function createEnvironment(env: Record<string, string>): Record<string, string> {
  const lines = Object.entries(services.api.environment).map(([name, value]) => [name, fillIn(String(value), env)]);
  return { HOST: /HOST=(\S+)/.exec(dockerfile)?.[1] ?? '', ...Object.fromEntries(lines) };
}

it('docker-compose.yml starts with the two variables that it asks for, and sends no SMS without a provider', () => {
  const config = parseConfig(createEnvironment(SET));
  expect(config).toMatchObject({ publicHost: true, allowCapture: true, signup: 'first' });
  expect(config.sms.provider).toBe('none');
});

it('docker-compose.yml refuses to capture email unless that is allowed', () => {
  expect(() => parseConfig(createEnvironment({ ...SET, ALLOW_CAPTURE: 'false' }))).toThrow(/EMAIL_PROVIDER/);
});

it('docker-compose.yml passes .env to each of our processes', () => {
  for (const name of ['migrate', 'api', 'worker'])
    expect(services[name].env_file, name).toEqual([{ path: '.env', required: false }]);
});

it('docker-compose.yml opens every port to this machine alone by default', () => {
  const ports = Object.values(services as Record<string, { ports?: string[] }>).flatMap(
    (service) => service.ports ?? [],
  );
  expect(ports.map((port) => fillIn(port, SET))).toEqual(['127.0.0.1:8080:8080', '127.0.0.1:3000:3000']);
});

it('docker-compose.yml uses an exact version of every image that it pulls', () => {
  const images = Object.values(services as Record<string, { image: string; build?: string }>).filter((s) => !s.build);
  for (const { image } of images) expect(image).toMatch(/:\d+(\.\d+)+$/);
  expect([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name)).toEqual(
    Array(2).fill(expect.stringMatching(/^node:\d+\.\d+\.\d+-/)),
  );
});

it('each service of docker-compose.yml waits for services and mounts configs that the file defines', () => {
  for (const [name, service] of Object.entries(services as Record<string, Service>)) {
    for (const other of Object.keys(service.depends_on ?? {})) expect(services, name).toHaveProperty(other);
    for (const { source } of service.configs ?? []) expect(configs, name).toHaveProperty(source);
  }
});

interface Service {
  depends_on?: Record<string, unknown>;
  configs?: { source: string }[];
}

it('the image has the certificates that Temporal Cloud needs', () => {
  expect(dockerfile.split(/^FROM /m).at(-1)).toMatch(/ca-certificates/);
});
