import { Code, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { Breakable } from '../../parts/breakable.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';

type DnsRecord = ResponseOf<'listDomains'>[number]['records'][number];
const words = text.settings.domains;

/** The DNS records that a domain needs or should have, each with copy buttons and its state. */
export function DomainRecords({ records, domain }: { records: DnsRecord[]; domain: string }) {
  return (
    <table className="records" aria-label={words.recordsOf(domain)}>
      <thead>
        <tr>
          <th scope="col">{words.record}</th>
          <th scope="col">{words.type}</th>
          <th scope="col">{words.host}</th>
          <th scope="col">{words.value}</th>
          <th scope="col">{words.status}</th>
        </tr>
      </thead>
      <tbody>
        {records.map((record) => (
          <Row key={`${record.purpose} ${record.name}`} record={record} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ record }: { record: DnsRecord }) {
  const { purpose, type, name, value, found, required, seen, warning } = record;
  return (
    <tr>
      <th scope="row">{words.purposes[purpose]}</th>
      <td>
        <Code c="dimmed">{type}</Code>
      </td>
      <td data-label={words.host}>
        <Value value={name} copy={words.copyHost} />
      </td>
      <td data-label={words.value}>
        <Value value={value} copy={words.copyValue} />
        {!found && seen && seen.length > 0 && (
          <Text size="xs" c="dimmed" mt={4}>
            {words.seen} <Code>{seen.join(' · ')}</Code>
          </Text>
        )}
        {warning && (
          <Text size="xs" mt={4} c="var(--color-waiting-text)">
            {warning}
          </Text>
        )}
      </td>
      <td>
        <Status tone={chooseTone(record)} means={required ? words.required : words.advised}>
          {describeState(record)}
        </Status>
      </td>
    </tr>
  );
}

function Value({ value, copy }: { value: string; copy: string }) {
  return (
    <div className="record-value">
      {/* A DKIM key would take many lines on a phone. CSS clips the value: users copy it and do not read it. */}
      <Code title={value}>
        <Breakable text={value} />
      </Code>
      <CopyButton value={value} label={copy} isSmall />
    </div>
  );
}

function describeState({ found, required, seen }: DnsRecord): string {
  if (found) return words.found;
  if (seen && seen.length > 0) return words.wrong;
  return required ? words.missing : words.optional;
}

function chooseTone({ found, required, seen }: DnsRecord): Tone {
  if (found) return 'done';
  if (seen && seen.length > 0) return 'failed';
  return required ? 'waiting' : 'idle';
}
