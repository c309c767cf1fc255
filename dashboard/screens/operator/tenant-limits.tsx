import { Button, NumberInput, SimpleGrid, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { CardSection } from '../../parts/card-section.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { Failed } from '../../parts/failed.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { toPercent, toShare } from './amounts.ts';

type Tenant = ResponseOf<'getTenant'>;
type LimitInputs = Record<keyof Tenant['operatorLimits'], number | string>;

const words = text.operator;
const INT_MAX = 2_147_483_647;
const FIELDS = ['monthlyEmailLimit', 'sendRatePerSecond', 'bounceGuard', 'complaintGuard'] as const;
const MINIMUM = { monthlyEmailLimit: 0, sendRatePerSecond: 1, bounceGuard: 0.0001, complaintGuard: 0.0001 } as const;
type Field = (typeof FIELDS)[number];
const isShare = (field: Field) => field === 'bounceGuard' || field === 'complaintGuard';

/** The operator's limits of a project. An empty field shows the project's own limit, which then applies. */
export function TenantLimits({ tenant }: { tenant: Tenant }) {
  const { id, operatorLimits } = tenant;
  const [typed, setTyped] = useState<LimitInputs>(() => toLimitInputs(operatorLimits));
  const write = useWrite('limitTenant', { changes: ['getTenant', 'listTenants'] });
  const isSame = JSON.stringify(typed) === JSON.stringify(toLimitInputs(operatorLimits));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    write.mutate({ params: { id }, body: toLimits(typed) }, { onSuccess: () => notifySuccess(words.saved) });
  };
  return (
    <CardSection title={words.limits} subtitle={words.limitsMean}>
      <Stack gap="sm" p="md" component="form" onSubmit={submit}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 1 }}>
          {FIELDS.map((field) => (
            <NumberInput
              key={field}
              label={words.limit[field]}
              placeholder={getPlaceholder(field, tenant)}
              description={describeLimit(field, tenant)}
              min={MINIMUM[field]}
              max={isShare(field) ? 100 : INT_MAX}
              allowDecimal={isShare(field)}
              allowNegative={false}
              thousandSeparator={!isShare(field)}
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
    </CardSection>
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

/** Returns what applies while the field is empty: the project's own limit, which is unknown if the operator's is lower. */
function getPlaceholder(field: Field, { limits, operatorLimits }: Tenant): string {
  const value = limits[field];
  if (operatorLimits[field] !== null && operatorLimits[field] === value) return words.projectsOwn;
  if (value === null) return words.noLimit;
  return isShare(field) ? String(toPercent(value)) : formatCount(value);
}

/** Explains a limit, and names the project's own limit if it is lower. */
function describeLimit(field: Field, { limits, operatorLimits }: Tenant): string {
  const [value, most] = [limits[field], operatorLimits[field]];
  if (value === null || most === null || value >= most) return words.limitMeans[field];
  return `${words.limitMeans[field]} ${words.lowered(isShare(field) ? `${toPercent(value)}%` : formatCount(value))}`;
}
