import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';
import { parseConfig } from '../../rules/config.ts';

const compose = readFileSync(join(packageRoot(), 'docker-compose.yml'), 'utf8');
const dockerfile = readFileSync(join(packageRoot(), 'Dockerfile'), 'utf8');
const SET = { SECRET_KEY: 'a'.repeat(64), POSTGRES_PASSWORD: 'b'.repeat(32) };

/** `${NAME:-default}` and `${NAME:?what to set}` as Docker Compose fills them in. */
function filledIn(text: string, env: Record<string, string>): string {
  return text.replaceAll(
    /\$\{(\w+):[-?]([^}]*)\}/g,
    (all, name, rest) => env[name] ?? (all.includes(':-') ? rest : ''),
  );
}

/** What our own processes get there: the image's HOST and the variables of the file. */
function environment(env: Record<string, string>): Record<string, string> {
  const block = /x-tidings:[\s\S]*?environment:\n([\s\S]*?)\n\n/.exec(compose)?.[1] ?? '';
  const lines = [...block.matchAll(/^ {4}([A-Z_]+): (.*)$/gm)].map(([, name = '', value = '']) => [
    name,
    filledIn(value, env),
  ]);
  return { HOST: /HOST=(\S+)/.exec(dockerfile)?.[1] ?? '', ...Object.fromEntries(lines) };
}

it('docker-compose.yml starts with the two variables that it asks for, and sends no SMS without a provider', () => {
  const config = parseConfig(environment(SET));
  expect(config).toMatchObject({ publicHost: true, allowCapture: true, signup: 'first' });
  expect(config.sms.provider).toBe('none');
});

it('docker-compose.yml refuses to capture where that is not allowed', () => {
  expect(() => parseConfig(environment({ ...SET, ALLOW_CAPTURE: 'false' }))).toThrow(/EMAIL_PROVIDER/);
});

it('docker-compose.yml opens every port to this machine alone, unless it is told otherwise', () => {
  const ports = [...compose.matchAll(/ports: \["(.*)"\]/g)].map(([, port = '']) => filledIn(port, SET));
  expect(ports).toEqual(['127.0.0.1:8080:8080', '127.0.0.1:3000:3000']);
});

it('the image has the certificates that Temporal Cloud needs, and the API has a health check', () => {
  expect(dockerfile.split(/^FROM /m).at(-1)).toMatch(/ca-certificates/);
  expect(compose).toMatch(/\n {2}api:\n(?: {4}.*\n)*? {4}healthcheck:\n(?: {6}.*\n)*? {6,}.*\/health\/live/);
});
