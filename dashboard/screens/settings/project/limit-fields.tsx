import { NumberInput, SimpleGrid } from '@mantine/core';
import { formatCount } from '../../../parts/count-link.tsx';
import { text } from '../../../text/text.ts';
import type { FieldsProps } from './fields-props.ts';
import { toNumberInput } from './window-fields.tsx';

const words = text.settings.project;

/**
 * Fields for the project's rates and limits, and for the guards: the rates of bounces and complaints that put the
 * project on hold. Also shows the operator's limits, if any.
 */
export function LimitFields({ draft, set, fault, project: { operatorLimits } }: FieldsProps) {
  const ceiling = (limit: number | null, unit = '') =>
    limit === null ? undefined : words.ceiling(`${formatCount(limit)}${unit}`);
  const asPercent = (share: number | null) => (share === null ? null : share * 100);
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <NumberInput
        label={words.rate}
        placeholder={words.none}
        description={ceiling(operatorLimits.sendRatePerSecond)}
        value={draft.rate}
        onChange={(rate) => set({ rate: toNumberInput(rate) })}
        min={1}
        allowDecimal={false}
        error={fault('sendRatePerSecond')}
      />
      <NumberInput
        label={words.month}
        placeholder={words.none}
        description={ceiling(operatorLimits.monthlyEmailLimit)}
        value={draft.month}
        onChange={(month) => set({ month: toNumberInput(month) })}
        min={0}
        allowDecimal={false}
        thousandSeparator
        error={fault('monthlyEmailLimit')}
      />
      <NumberInput
        label={words.bounceGuard}
        description={ceiling(asPercent(operatorLimits.bounceGuard), '%')}
        value={draft.bounceGuard}
        onChange={(bounceGuard) => set({ bounceGuard: toNumberInput(bounceGuard) })}
        min={0}
        max={100}
        decimalScale={3}
        error={fault('bounceGuard')}
      />
      <NumberInput
        label={words.complaintGuard}
        description={ceiling(asPercent(operatorLimits.complaintGuard), '%')}
        value={draft.complaintGuard}
        onChange={(complaintGuard) => set({ complaintGuard: toNumberInput(complaintGuard) })}
        min={0}
        max={100}
        decimalScale={3}
        error={fault('complaintGuard')}
      />
    </SimpleGrid>
  );
}
