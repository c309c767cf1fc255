import { Resolver } from 'node:dns/promises';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { createDns } from '../../channels/dns.ts';
import type { Db } from '../../db/connection.ts';
import { connectForInspection, readServerFacts, type ServerFacts } from '../../db/inspection.ts';
import { type Environment, parseSettings, type Settings } from '../../rules/config.ts';
import type { Dns } from '../../rules/domains/dns.ts';
import { findInnermostReason } from '../database-error.ts';
import type { DevFile } from '../start/dev-file.ts';
import { readJson } from '../start/private-files.ts';
import { identifyProcess } from '../start/processes.ts';

/**
 * The time limit of the first DNS attempt. The resolver waits up to twice as long for the second attempt, so both
 * attempts fit into three seconds, which is the limit of a lookup.
 */
const DNS_TRY_MS = 900;
const DNS_TRIES = 2;

/** The configuration that the doctor checks, with access to Postgres and DNS. */
export interface Deployment {
  readonly settings: Settings;
  readonly home: string;
  /** The value of SECRET_KEY, or the key that `npm start` has stored in the home. */
  readonly secretKey: { readonly value: string; readonly from: 'SECRET_KEY' | 'home' } | undefined;
  /**
   * The configured address of the database, or the address in the dev.json of a running `npm start`. Undefined if there
   * is neither. `temporalAddress` is the corresponding address of Temporal.
   */
  readonly databaseUrl: string | undefined;
  readonly temporalAddress: string | undefined;
  /** The public IP address that sends email, if the user has given it. */
  readonly address: string | undefined;
  readonly dns: Dns & { names(address: string): Promise<string[]> };
  /** Queries Postgres. All checks share the result of one query. */
  readonly postgres: () => Promise<Inspected | Unreached>;
}

export interface Inspected {
  readonly db: Db;
  readonly facts: ServerFacts;
}

export interface Unreached {
  readonly reason: string;
}

/**
 * Reads a configuration in the same way as `npm start`, `npm run api` and `npm run worker`, but does not create a home
 * that does not exist.
 * @throws ConfigError for the first variable that cannot be used
 */
export function openDeployment(env: Environment, address: string | undefined): Deployment & { close(): Promise<void> } {
  const settings = parseSettings(env);
  const home = resolve(settings.home);
  const running = readRunningStart(home);
  const databaseUrl = settings.database.url ?? running?.databaseUrl;
  let db: Db | undefined;
  let inspection: Promise<Inspected | Unreached> | undefined;

  async function inspect(): Promise<Inspected | Unreached> {
    if (databaseUrl === undefined) return { reason: 'the Postgres of npm start is not running' };
    const opened = connectForInspection(databaseUrl);
    db = opened;
    return readServerFacts(opened).then(
      (facts) => ({ db: opened, facts }),
      (error) => ({ reason: findInnermostReason(error) }),
    );
  }
  return {
    settings,
    home,
    address,
    databaseUrl,
    secretKey: readSecretKey(settings, home),
    dns: openDns(settings),
    temporalAddress: settings.temporal.address ?? running?.temporal.address,
    postgres: () => {
      inspection ??= inspect();
      return inspection;
    },
    close: async () => db?.destroy(),
  };
}

/**
 * Returns the content of dev.json if its `npm start` is running. Undefined otherwise, because a killed `npm start`
 * leaves the file behind.
 */
function readRunningStart(home: string): DevFile | undefined {
  const dev = readJson<DevFile>(join(home, 'dev.json'));
  return dev && identifyProcess(dev.pids.start) ? dev : undefined;
}

function readSecretKey(settings: Settings, home: string): Deployment['secretKey'] {
  if (settings.secretKey !== undefined) return { value: settings.secretKey, from: 'SECRET_KEY' };
  const file = join(home, 'secret-key');
  return existsSync(file) ? { value: readFileSync(file, 'utf8').trim(), from: 'home' } : undefined;
}

function openDns({ dnsServers }: Settings): Deployment['dns'] {
  const resolver = new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES });
  if (dnsServers.length > 0) resolver.setServers(dnsServers);
  // Does not use `resolver.reverse`, because its error does not show whether the DNS server did not respond or the
  // address has no name.
  return {
    ...createDns({ servers: dnsServers, cached: false }),
    names: (address) => resolver.resolvePtr(toReverseDnsName(address)),
  };
}

/** Returns the DNS name at which the PTR record of an IP address is stored (RFC 1035 §3.5, RFC 3596 §2.5). */
export function toReverseDnsName(address: string): string {
  const parsed = ipaddr.process(address);
  const bytes = [...parsed.toByteArray()].reverse();
  if (parsed.kind() === 'ipv4') return `${bytes.join('.')}.in-addr.arpa`;
  const nibbles = bytes.flatMap((byte) => [byte & 15, byte >> 4].map((nibble) => nibble.toString(16)));
  return `${nibbles.join('.')}.ip6.arpa`;
}
