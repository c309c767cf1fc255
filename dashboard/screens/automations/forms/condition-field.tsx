import { Text } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { ConditionBuilder } from '../../../parts/condition-builder/condition-builder.tsx';
import { isComplete } from '../../../parts/condition-builder/draft.ts';
import { text } from '../../../text/text.ts';

/** The condition of a step with its legend, and a note about incomplete rows. `children` are shown below. */
export function ConditionField({
  legend,
  readOnly,
  children,
  ...builder
}: ComponentProps<typeof ConditionBuilder> & { legend: string; readOnly: boolean; children?: ReactNode }) {
  return (
    <fieldset disabled={readOnly} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
      <Text component="legend" size="sm" fw={500} mb={4}>
        {legend}
      </Text>
      {/* In Chromium, a query container beside another element in a fieldset loses its height. */}
      <div>
        <ConditionBuilder {...builder} />
        {!isComplete(builder.value) && (
          <Text size="xs" c="dimmed" mt={4}>
            {text.automations.notWhole}
          </Text>
        )}
        {children}
      </div>
    </fieldset>
  );
}
