import { Button, NumberInput, SimpleGrid, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { Failed } from '../../parts/failed.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { toPercent, toShare } from './amounts.ts';
import { Card } from './fact.tsx';

type Tenant = ResponseOf<'getTenant'>;
type LimitInputs = Record<keyof Tenant['operatorLimits'], number | string>;

const words = text.operator;
const INT_MAX = 2_147_483_647;
const FIELDS = ['monthlyEmailLimit', 'sendRatePerSecond', 'bounceGuard', 'complaintGuard'] as const;
const MINIMUM = { monthlyEmailLimit: 0, sendRatePerSecond: 1, bounceGuard: 0.0001, complaintGuard: 0.0001 } as const;
const isShare = (field: (typeof FIELDS)[number]) => field === 'bounceGuard' || field === 'complaintGuard';

/**
 * The operator's limits of a project. The help of each field shows the limit in effect, which is lower if the project
 * has set a lower limit.
 */
export function TenantLimits({ tenant }: { tenant: Tenant }) {
  const { id, limits, operatorLimits } = tenant;
  const [typed, setTyped] = useState<LimitInputs>(() => toLimitInputs(operatorLimits));
  const write = useWrite('limitTenant', { changes: ['getTenant', 'listTenants'] });
  const isSame = JSON.stringify(typed) === JSON.stringify(toLimitInputs(operatorLimits));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    write.mutate({ params: { id }, body: toLimits(typed) }, { onSuccess: () => notifySuccess(words.saved) });
  };
  return (
    <Card title={words.limits} subtitle={words.limitsMean}>
      <Stack gap="sm" p="md" component="form" onSubmit={submit}>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {FIELDS.map((field) => (
            <NumberInput
              key={field}
              label={words.limit[field]}
              description={`${words.limitMeans[field]} ${words.inEffectNow(formatLimit(field, limits[field]))}.`}
              min={MINIMUM[field]}
              max={isShare(field) ? 100 : INT_MAX}
              allowDecimal={isShare(field)}
              allowNegative={false}
              thousandSeparator={isShare(field) ? '' : ' '}
              value={typed[field]}
              onChange={(value) => setTyped((before) => ({ ...before, [field]: value }))}
            />
          ))}
        </SimpleGrid>
        {write.error && <Failed error={write.error} />}
        <Button type="submit" loading={write.isPending} disabled={isSame} style={{ alignSelf: 'flex-start' }}>
          {words.save}
        </Button>
      </Stack>
    </Card>
  );
}

function toLimitInputs(limits: Tenant['operatorLimits']): LimitInputs {
  return {
    monthlyEmailLimit: limits.monthlyEmailLimit ?? '',
    sendRatePerSecond: limits.sendRatePerSecond ?? '',
    bounceGuard: toPercent(limits.bounceGuard),
    complaintGuard: toPercent(limits.complaintGuard),
  };
}

function toLimits(typed: LimitInputs): Tenant['operatorLimits'] {
  const toNumber = (value: number | string) => (value === '' ? null : Number(value));
  return {
    monthlyEmailLimit: toNumber(typed.monthlyEmailLimit),
    sendRatePerSecond: toNumber(typed.sendRatePerSecond),
    bounceGuard: toShare(typed.bounceGuard),
    complaintGuard: toShare(typed.complaintGuard),
  };
}

function formatLimit(field: (typeof FIELDS)[number], value: number | null): string {
  if (value === null) return words.noLimit;
  return isShare(field) ? `${toPercent(value)}%` : formatCount(value);
}
