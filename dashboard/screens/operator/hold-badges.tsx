import type { ItemOf } from '../../api/queries.ts';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';

const words = text.operator;

/** The holds of a project, with the reason on hover and focus. Shows nothing if the project has no hold. */
export function HoldBadges({ tenant }: { tenant: Pick<ItemOf<'listTenants'>, 'operatorHold' | 'ownHold'> }) {
  const { operatorHold, ownHold } = tenant;
  return (
    <>
      {operatorHold.held && (
        <Status tone="failed" means={words.heldMeans(operatorHold.reason)}>
          {words.heldByOperator}
        </Status>
      )}
      {ownHold.held && (
        <Status tone="waiting" means={words.heldMeans(ownHold.reason)}>
          {words.heldByProject}
        </Status>
      )}
    </>
  );
}
