import { readInstallation } from '../../db/installation/installation.ts';
import { readSendingHold } from '../../db/installation/sending-hold.ts';
import { listPendingMigrations } from '../../db/migrator.ts';
import {
  compareInstallationTokens,
  describeMismatch,
  isMismatch,
  type TokenState,
} from '../../rules/installation-tokens.ts';
import { createWorkflowLifecycle } from '../../temporal/lifecycle.ts';
import { readTokenState } from '../../worker/installation/token-state.ts';
import { type DoctorCheck, type DoctorFinding, failFinding, passFinding, warnFinding } from './report.ts';

/** Checks that Postgres and Temporal belong together, and that the installation may send. */
export const installationCheck: DoctorCheck = {
  name: 'installation',
  async run({ settings, databaseUrl, temporalAddress, postgres }) {
    const inspected = await postgres();
    // If Postgres or Temporal cannot be reached, other checks report it.
    if (databaseUrl === undefined || temporalAddress === undefined || 'reason' in inspected) return [];
    if (!inspected.facts.supported || (await listPendingMigrations(databaseUrl)).length > 0) return [];
    const { db } = inspected;
    const installation = await readInstallation(db);
    const temporal = { ...settings.temporal, address: temporalAddress };
    const lifecycle = createWorkflowLifecycle({ temporal, publicUrl: settings.publicUrl, installation });
    try {
      const tokenState = await readTokenState({ db, lifecycle });
      const hold = await readSendingHold(db);
      const holdFinding =
        hold &&
        warnFinding(
          `nothing has been sent since ${hold.since.toISOString()}, because ${HOLD_CAUSES[hold.reason]}`,
          REMEDIES[hold.reason],
        );
      return [judgeTokenState(installation.shortId, tokenState), ...(holdFinding ? [holdFinding] : [])];
    } finally {
      await lifecycle.close();
    }
  },
};

const HOLD_CAUSES = { new: 'this installation is a clone', recovery: 'recovery has not ended' } as const;
const REMEDIES = {
  new: 'run "npm run operator -- resume" when this installation may send',
  recovery: 'start a worker that reaches Temporal, and read its log',
} as const;

function judgeTokenState(shortId: string, tokenState: TokenState): DoctorFinding {
  const comparison = compareInstallationTokens(tokenState);
  if (isMismatch(comparison)) {
    const [message = '', remedy = ''] = describeMismatch(comparison, tokenState).split('. Nothing is sent. ');
    return failFinding(message, remedy);
  }
  const { tokens, temporal } = tokenState;
  if (temporal === undefined)
    return warnFinding(`${shortId}: the token in Temporal could not be read`, 'see the check of Temporal');
  const [newest] = tokens;
  if (newest === undefined) return passFinding(`${shortId} has not started yet`);
  const tokenText = `token ${newest.no} of ${newest.rolledAt}`;
  if (comparison === 'agree') return passFinding(`${shortId}, ${tokenText}: Postgres and Temporal agree`);
  return warnFinding(
    `${shortId}, ${tokenText}: Temporal ${comparison === 'temporal-empty' ? 'has no token' : `has the older token ${temporal?.no}`}`,
    'start a worker: recovery rebuilds Temporal from Postgres',
  );
}
