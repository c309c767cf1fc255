import { z } from '@hono/zod-openapi';
import type { Domain } from '../../../db/domains/domains.ts';
import type { Config } from '../../../rules/config.ts';
import { explainMissingRecords, listDnsRecords, RECORD_PURPOSES } from '../../../rules/domains/sender-domain.ts';
import { createDnsRecordSource } from '../../../rules/provenance/record-source.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';

const EXAMPLE = {
  id: EXAMPLE_ID,
  domain: 'example.com',
  verified: false,
  status: 'PENDING' as const,
  signing: true,
  records: [
    {
      purpose: 'DKIM' as const,
      type: 'TXT' as const,
      name: 'tidings-1a2b3c4d._domainkey.example.com',
      value: 'v=DKIM1; k=rsa; p=MIIBIjANBg…',
      required: true,
      found: false,
      seen: null,
      warning: null,
    },
  ],
  note: null,
  lastCheckedAt: null,
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:00.000Z',
};

export const DomainRecord = z
  .object({
    id: Id,
    domain: z.string(),
    verified: z.boolean(),
    status: z.enum(['PENDING', 'VERIFIED', 'FAILED']),
    signing: z.boolean().openapi({ description: 'Whether the service signs email from this domain (DKIM)' }),
    records: z.array(
      z.object({
        purpose: z.enum(RECORD_PURPOSES),
        type: z.enum(['TXT', 'MX']),
        name: z.string(),
        value: z.string(),
        required: z.boolean(),
        found: z.boolean(),
        seen: z.array(z.string()).nullable().openapi({
          description: 'Values that the DNS returned at the last check. Null if the DNS has never responded.',
        }),
        warning: z.string().nullable().openapi({
          description:
            'Warning to read before you publish the record, for example that the name already has an MX of another server',
        }),
      }),
    ),
    note: z.string().nullable().openapi({ description: 'Why you need to publish no records, or only some of them' }),
    lastCheckedAt: Instant.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Domain', { example: EXAMPLE });

export function toDomainResponse(domain: Domain, config: Config) {
  return {
    id: domain.id,
    domain: domain.domain,
    verified: domain.status === 'VERIFIED',
    status: domain.status,
    signing: domain.signing,
    records: listDnsRecords(createDnsRecordSource(config, domain), domain.found, domain.seen),
    note: explainMissingRecords(createDnsRecordSource(config, domain)),
    lastCheckedAt: domain.lastCheckedAt?.toISOString() ?? null,
    createdAt: domain.createdAt.toISOString(),
    updatedAt: domain.updatedAt.toISOString(),
  };
}
