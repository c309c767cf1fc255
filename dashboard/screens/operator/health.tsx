import { Alert, Box, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ResponseOf } from '../../api/client.ts';
import { listQueryFor } from '../../api/queries.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { formatBytes } from '../../parts/format-bytes.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { formatSeconds } from './amounts.ts';
import { FactCard, Figures, TONES } from './fact.tsx';
import { OperatorHead } from './operator-head.tsx';
import { Outbox } from './outbox.tsx';
import { PeriodicWork } from './periodic-work.tsx';
import { Processes } from './processes.tsx';
import { Queues } from './queues.tsx';
import { RoutePauses } from './route-pauses.tsx';
import { SendingHold } from './sending-hold.tsx';
import { type FactState, findStates, hasLongTransaction, isNearConnectionLimit, summarizeHealth } from './states.ts';

type HealthResponse = ResponseOf<'getOperatorHealth'>;

const words = text.operator;
/** Heartbeats arrive every 10 seconds. TanStack Query pauses requests while the tab is hidden. */
const POLL_MS = 3_000;

/** The state of the installation as of a few seconds ago. */
export function Health() {
  const health = useQuery({ ...listQueryFor('getOperatorHealth'), refetchInterval: POLL_MS });
  return (
    <>
      <OperatorHead title={words.health} status={health.data && <OverallState health={health.data} />} />
      <QueryView of={health} height={480}>
        {(loaded) => <Parts health={loaded} />}
      </QueryView>
    </>
  );
}

/** One state for the installation, with the parts that need attention. */
function OverallState({ health }: { health: HealthResponse }) {
  const { state, parts } = summarizeHealth(health);
  return (
    <Status tone={TONES[state]}>
      {parts.length === 0 ? words.allWell : words.lookAt(parts.map((part) => words[part]).join(', '))}
    </Status>
  );
}

function Parts({ health }: { health: HealthResponse }) {
  const { installation, postgres, temporal, outbox, periodicWork, processes } = health;
  const states = findStates(health);
  return (
    <Stack gap="lg">
      <SendingHold hold={installation.sendingHold} />
      <Postgres facts={postgres} state={states.postgres} />
      <Temporal temporal={temporal} state={states.temporal} />
      <RoutePauses />
      <Outbox rows={outbox} state={states.outbox} />
      <PeriodicWork kinds={periodicWork} state={states.periodicWork} />
      <Processes processes={processes} state={states.processes} />
    </Stack>
  );
}

function Postgres({ facts, state }: { facts: HealthResponse['postgres']; state: FactState }) {
  const { pingMs, version, connections, maxConnections, databaseBytes, longestTransactionSeconds } = facts;
  return (
    <FactCard title={words.postgres} subtitle={words.postgresVersion(version)} state={state}>
      <Figures
        of={[
          { name: words.responseTime, value: pingMs, unit: 'ms' },
          {
            name: words.connections,
            value: formatCount(connections),
            unit: words.ofMost(formatCount(maxConnections)),
            means: words.connectionsMean,
            isWarning: isNearConnectionLimit(facts),
          },
          { name: words.databaseSize, ...withUnit(formatBytes(databaseBytes)) },
          {
            name: words.longest,
            ...withUnit(formatSeconds(longestTransactionSeconds)),
            means: words.longestMeans,
            isWarning: hasLongTransaction(facts),
          },
        ]}
      />
    </FactCard>
  );
}

function Temporal({
  temporal: { reached, pingMs, queues },
  state,
}: {
  temporal: HealthResponse['temporal'];
  state: FactState;
}) {
  if (!reached) {
    return (
      <FactCard title={words.temporal} state={state}>
        <Box className="card-block">
          <Alert color="red">{words.temporalAway}</Alert>
        </Box>
      </FactCard>
    );
  }
  const unserved = queues.filter(({ pollers }) => pollers === 0).map(({ queue }) => queue);
  return (
    <FactCard title={words.temporal} subtitle={words.respondsWithin(pingMs)} state={state}>
      {unserved.length > 0 && (
        <Box className="card-block">
          <Alert color="yellow">{words.unserved(unserved.join(', '))}</Alert>
        </Box>
      )}
      <Queues queues={queues} />
    </FactCard>
  );
}

/** Separates a formatted amount, such as `22 MB`, from its unit, which a figure shows smaller. */
function withUnit(amount: string): { value: string; unit: string | undefined } {
  const [value = '', unit] = amount.split(' ');
  return { value, unit };
}
