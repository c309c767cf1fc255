import { continueAsNew } from '@temporalio/workflow';
import type { RoundRequest } from '../rules/periodic-round.ts';
import { type RoundResult, runRound } from './periodic-round.ts';

// Each kind of periodic work has a separate workflow type and a separate schedule, so no kind waits for another kind.

/** Compares the records in Postgres with the workflows in Temporal, and repairs the differences. */
export async function recoveryRound(request: RoundRequest = {}): Promise<RoundResult> {
  return runRound('recovery', request, (next) => continueAsNew<typeof recoveryRound>(next));
}

/** Deletes expired records, table by table. */
export async function pruningRound(request: RoundRequest = {}): Promise<RoundResult> {
  return runRound('pruning', request, (next) => continueAsNew<typeof pruningRound>(next));
}

/** Deletes stale statistics of campaigns, and adds up the counts of emails and of visits to steps. */
export async function statisticsRound(request: RoundRequest = {}): Promise<RoundResult> {
  return runRound('statistics', request, (next) => continueAsNew<typeof statisticsRound>(next));
}

/** Computes the tracked segments of all projects. */
export async function segmentsRound(request: RoundRequest = {}): Promise<RoundResult> {
  return runRound('segments', request, (next) => continueAsNew<typeof segmentsRound>(next));
}

/** Checks the DNS records of all sender domains. */
export async function domainsRound(request: RoundRequest = {}): Promise<RoundResult> {
  return runRound('domains', request, (next) => continueAsNew<typeof domainsRound>(next));
}
