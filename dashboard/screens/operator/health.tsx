import { Alert, SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ResponseOf } from '../../api/client.ts';
import { steadyResponseOf } from '../../api/queries.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { text } from '../../text/text.ts';
import { formatBytes, formatSeconds } from './amounts.ts';
import { FactCard, Facts } from './fact.tsx';
import { OperatorHead } from './operator-head.tsx';
import { Outbox } from './outbox.tsx';
import { PeriodicWork } from './periodic-work.tsx';
import { Processes } from './processes.tsx';
import { Queues } from './queues.tsx';
import { RoutePauses } from './route-pauses.tsx';
import { SendingHold } from './sending-hold.tsx';

type HealthResponse = ResponseOf<'getOperatorHealth'>;

const words = text.operator;
/** Heartbeats arrive every 10 seconds. TanStack Query pauses requests while the tab is hidden. */
const ASK_AGAIN_MS = 3_000;
/** Above this share of the connection limit, an application server has few connections left for a peak. */
const CONNECTIONS_SHARE = 0.8;
/** The longest transactions of the service take a minute or two. */
const TRANSACTION_SECONDS = 300;

/** The state of the installation as of a few seconds ago. */
export function Health() {
  const health = useQuery({ ...steadyResponseOf('getOperatorHealth'), refetchInterval: ASK_AGAIN_MS });
  return (
    <>
      <OperatorHead title={words.health} />
      <QueryView of={health} height={480}>
        {({ installation, postgres, temporal, outbox, periodicWork, processes }) => (
          <Stack gap="lg">
            <SendingHold hold={installation.sendingHold} />
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Postgres facts={postgres} />
              <Temporal temporal={temporal} />
            </SimpleGrid>
            <RoutePauses />
            <Outbox rows={outbox} />
            <PeriodicWork kinds={periodicWork} />
            <Processes processes={processes} />
          </Stack>
        )}
      </QueryView>
    </>
  );
}

function Postgres({ facts }: { facts: HealthResponse['postgres'] }) {
  const { pingMs, version, connections, maxConnections, databaseBytes, longestTransactionSeconds } = facts;
  const isFull = connections > CONNECTIONS_SHARE * maxConnections;
  const isLong = longestTransactionSeconds > TRANSACTION_SECONDS;
  return (
    <FactCard
      title={words.postgres}
      subtitle={words.postgresVersion(version)}
      standing={isFull || isLong ? 'look' : 'well'}
    >
      <Facts
        of={[
          { name: words.answersIn, value: `${pingMs} ms` },
          {
            name: words.connections,
            value: words.ofMost(formatCount(connections), formatCount(maxConnections)),
            means: words.connectionsMean,
            look: isFull,
          },
          { name: words.databaseSize, value: formatBytes(databaseBytes) },
          {
            name: words.longest,
            value: formatSeconds(longestTransactionSeconds),
            means: words.longestMeans,
            look: isLong,
          },
        ]}
      />
    </FactCard>
  );
}

function Temporal({ temporal: { reached, pingMs, queues } }: { temporal: HealthResponse['temporal'] }) {
  if (!reached) {
    return (
      <FactCard title={words.temporal} standing="away">
        <Alert color="red">{words.temporalAway}</Alert>
      </FactCard>
    );
  }
  const unserved = queues.filter(({ pollers }) => pollers === 0).map(({ queue }) => queue);
  return (
    <FactCard title={words.temporal} standing={unserved.length > 0 ? 'look' : 'well'}>
      {unserved.length > 0 && <Alert color="yellow">{words.unserved(unserved.join(', '))}</Alert>}
      <Facts of={[{ name: words.answersIn, value: `${pingMs} ms` }]} />
      <Queues queues={queues} />
    </FactCard>
  );
}
