import { Box, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ResponseOf } from '../../api/client.ts';
import { infiniteQueryFor, queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { WordText } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { describeActor } from '../contacts/contact/describe-actor.ts';
import { describeDetails } from './audit-details.ts';

type Entry = ResponseOf<'listAuditLog'>['data'][number];
const words = text.settings.auditLog;

/** The project's audit log: user, action, time. */
export function AuditLog() {
  const { can } = useSession();
  const pages = useInfiniteQuery(infiniteQueryFor('listAuditLog', { query: { limit: 50 } }));
  // Current team members are shown by address.
  const { data: team } = useQuery({ ...queryFor('getTeam'), enabled: can('team:manage'), staleTime: 60_000 });
  const nameOf = (actor: string) => {
    if (actor.startsWith('key:')) return words.apiKey;
    if (actor.startsWith('operator:')) return words.operator(actor.slice('operator:'.length));
    if (!actor.startsWith('user:')) return capitalize(describeActor(actor, null));
    if (!team) return words.member;
    return team.members.find(({ userId }) => actor === `user:${userId}`)?.email ?? capitalize(text.contacts.who.user);
  };
  const columns: Column<Entry>[] = [
    { name: words.when, cell: ({ createdAt }) => <Instant at={createdAt} />, width: 130 },
    {
      name: words.action,
      cell: ({ action, actor, details }) => (
        <>
          <WordText kind="audit" value={action} />
          <Box hiddenFrom="sm" mt={4}>
            <Text size="sm">{nameOf(actor)}</Text>
            <Details details={details} />
          </Box>
        </>
      ),
    },
    { name: words.actor, cell: ({ actor }) => nameOf(actor), wideOnly: true },
    { name: words.details, cell: ({ details }) => <Details details={details} />, wideOnly: true },
    { name: words.ip, cell: ({ ip }) => ip ?? '–', wideOnly: true },
  ];
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        {words.what}
      </Text>
      <CursorTable
        pages={pages}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty icon={IconHistory} title={words.emptyTitle} what={words.emptyHelp} />}
        caption={text.settings.sections['audit-log']}
      />
    </>
  );
}

/** Returns a name such as "the service" as the start of a cell. */
function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function Details({ details }: { details: Entry['details'] }) {
  return (
    <Text size="sm" lineClamp={4}>
      {describeDetails(details)}
    </Text>
  );
}
