import { Badge, Tooltip } from '@mantine/core';
import type { ItemOf } from '../../api/queries.ts';
import { text } from '../../text/text.ts';

const words = text.operator;

/** The holds of a project, with the reason on hover and focus; nothing without a hold. */
export function HoldBadges({ tenant }: { tenant: Pick<ItemOf<'listTenants'>, 'operatorHold' | 'ownHold'> }) {
  const { operatorHold, ownHold } = tenant;
  return (
    <>
      {operatorHold.held && <HoldBadge label={words.heldByOperator} reason={operatorHold.reason} color="red" />}
      {ownHold.held && <HoldBadge label={words.heldByProject} reason={ownHold.reason} color="orange" />}
    </>
  );
}

function HoldBadge({ label, reason, color }: { label: string; reason: string | null; color: string }) {
  return (
    <Tooltip label={words.heldMeans(reason)} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      <Badge variant="light" color={color} tt="none" radius="sm" tabIndex={0}>
        {label}
      </Badge>
    </Tooltip>
  );
}
