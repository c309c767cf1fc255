import { readFileSync } from 'node:fs';
import type { TLSConfig } from '@temporalio/client';
import type { Config } from '../rules/config.ts';

/** The connection options of clients and workers. */
export interface TemporalConnectionOptions {
  address: string;
  apiKey?: string;
  tls?: TLSConfig | true;
}

/**
 * Builds the connection options from the configured address, API key and TLS files. Reads the PEM files during this
 * call only, so a process uses changed files only after a restart.
 */
export function buildTemporalConnectionOptions(temporal: Config['temporal']): TemporalConnectionOptions {
  const options: TemporalConnectionOptions = { address: temporal.address };
  if (temporal.apiKey) options.apiKey = temporal.apiKey;
  const tls = buildTlsOptions(temporal);
  if (tls) options.tls = tls;
  return options;
}

function buildTlsOptions(temporal: Config['temporal']): TLSConfig | true | undefined {
  const { tlsCertFile, tlsKeyFile, tlsCaFile, tlsServerName, apiKey } = temporal;
  if (!tlsCertFile && !tlsCaFile && !tlsServerName) return apiKey ? true : undefined;
  return {
    ...(tlsServerName && { serverNameOverride: tlsServerName }),
    ...(tlsCaFile && { serverRootCACertificate: readFileSync(tlsCaFile) }),
    ...(tlsCertFile &&
      tlsKeyFile && { clientCertPair: { crt: readFileSync(tlsCertFile), key: readFileSync(tlsKeyFile) } }),
  };
}
