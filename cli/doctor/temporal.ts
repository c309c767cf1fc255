// Temporal's client is imported when the program starts, and not during the check. Loading the client takes half a
// second, which would otherwise count towards the time limits of other checks.
import { Connection, isGrpcServiceError } from '@temporalio/client';
import { buildTemporalConnectionOptions } from '../../temporal/connection.ts';
import { findInnermostReason } from '../database-error.ts';
import type { Deployment } from './deployment.ts';
import { type DoctorCheck, type DoctorFinding, failFinding, passFinding, warnFinding } from './report.ts';

const RESPONSE_MS = 4_000;
const GRPC_DEADLINE_EXCEEDED = 4;
const GRPC_NOT_FOUND = 5;
const SECONDS_PER_HOUR = 3_600;
/**
 * The minimum retention. Recovery checks every 5 minutes how workflows ended. If Temporal no longer knows a workflow,
 * recovery considers it lost and starts it again, even if an operator had ended it. With one day, recovery has enough
 * time even if the workers were down for hours.
 */
const RETENTION_MIN_HOURS = 24;
/** The recommended retention. It is long enough to see on Monday which workflows ended on Friday. */
const RETENTION_HOURS = 72;

/** Checks that Temporal is reachable, has the namespace, and keeps ended workflows long enough. */
export const temporalCheck: DoctorCheck = {
  name: 'Temporal',
  async run({ settings, temporalAddress }) {
    if (temporalAddress === undefined) {
      return [
        warnFinding(
          'the Temporal of npm start is not running, so it was not checked',
          'run npm start, or set TEMPORAL_ADDRESS',
        ),
      ];
    }
    const embedded = settings.temporal.address === undefined;
    const { namespace } = settings.temporal;
    const retention = await fetchRetentionHours({ ...settings.temporal, address: temporalAddress });
    if ('absent' in retention) {
      const remedy = `temporal operator namespace create -n ${namespace} --retention 7d, or set TEMPORAL_NAMESPACE`;
      return [failFinding(`${temporalAddress} has no namespace ${namespace}`, remedy)];
    }
    if ('reason' in retention) {
      return [
        failFinding(
          `${temporalAddress} cannot be reached (${retention.reason})`,
          'check TEMPORAL_ADDRESS, its TLS or key, and that the server runs',
        ),
      ];
    }
    const found = judgeRetention(`${temporalAddress}, namespace ${namespace}`, retention.hours, {
      embedded,
      namespace,
    });
    return embedded && settings.publicHost ? [found, createDevServerFinding()] : [found];
  },
};

async function fetchRetentionHours(
  temporal: Deployment['settings']['temporal'] & { address: string },
): Promise<{ hours: number } | { absent: true } | { reason: string }> {
  const connection = Connection.lazy({ ...buildTemporalConnectionOptions(temporal), connectTimeout: RESPONSE_MS });
  try {
    const { config } = await connection.withDeadline(Date.now() + RESPONSE_MS, () =>
      connection.workflowService.describeNamespace({ namespace: temporal.namespace }),
    );
    return { hours: Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / SECONDS_PER_HOUR };
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === GRPC_NOT_FOUND) return { absent: true };
    if (isGrpcServiceError(error) && error.code === GRPC_DEADLINE_EXCEEDED) {
      return { reason: `no response in ${RESPONSE_MS / 1000} s` };
    }
    return { reason: findInnermostReason(error) };
  } finally {
    await connection.close();
  }
}

function judgeRetention(where: string, hours: number, p: { embedded: boolean; namespace: string }): DoctorFinding {
  const message = `${where} keeps ended workflows for ${hours} h`;
  const remedy = `temporal operator namespace update -n ${p.namespace} --retention 7d`;
  if (hours < RETENTION_MIN_HOURS) {
    return failFinding(`${message}: after an outage, workflows that an operator ended would start again`, remedy);
  }
  if (hours < RETENTION_HOURS && !p.embedded)
    return warnFinding(`${message}: too short to investigate a weekend`, remedy);
  return passFinding(message);
}

function createDevServerFinding(): DoctorFinding {
  return warnFinding(
    'the dev server of npm start has one process and one SQLite file',
    'for a high volume, or several machines, set TEMPORAL_ADDRESS to a cluster or Temporal Cloud',
  );
}
