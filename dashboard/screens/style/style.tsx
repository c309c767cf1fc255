import { Box, SimpleGrid, Stack, Text } from '@mantine/core';
import { PageHead } from '../../parts/page-head.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { listExplainedValues } from '../../text/words.ts';
import { Controls } from './controls.tsx';
import { Data } from './data.tsx';
import { Part } from './part.tsx';
import { States } from './states.tsx';

const COLORS = [
  ...['canvas', 'surface', 'raised', 'sunken', 'border', 'border-control', 'text', 'text-secondary', 'text-faint'],
  ...['accent', 'accent-soft', 'done', 'done-soft', 'moving', 'moving-soft', 'waiting', 'waiting-soft'],
  ...['failed', 'failed-soft', 'idle'],
];
const TYPE = [
  ['28', '28px / 36px', 'Public pages'],
  ['24', '24px / 32px', '40,312'],
  ['20', '20px / 28px', 'Winter teas are in'],
  ['16', '16px / 24px', 'Section title'],
  ['14', '14px / 20px', 'Body text of a screen'],
  ['13', '13px / 18px', 'Canvas and tables'],
  ['12', '12px / 16px', 'Labels and hints'],
] as const;
const STATUSES = ['email', 'campaign', 'execution', 'job', 'endpoint', 'delivery', 'subscription'] as const;

/** Samples of the design system. Only for developers: the route exists only on a loopback address. */
export function StylePage() {
  return (
    <>
      <PageHead title="Style" subtitle="Every part of the dashboard in every state." />
      <Stack gap="xl">
        <Part title="Colors">
          <SimpleGrid cols={{ base: 2, sm: 4, lg: 6 }} spacing="sm">
            {COLORS.map((name) => (
              <div key={name}>
                <Box
                  h={44}
                  style={{
                    background: `var(--color-${name})`,
                    border: '1px solid var(--color-border)',
                    borderRadius: 'var(--radius-control)',
                  }}
                />
                <Text size="xs" c="dimmed">
                  {name}
                </Text>
              </div>
            ))}
          </SimpleGrid>
        </Part>
        <Part title="Type">
          {TYPE.map(([name, size, sample]) => (
            <Text key={name} style={{ font: `var(--weight-medium) ${size} var(--font-sans)` }}>
              {sample}
            </Text>
          ))}
          <Text ff="monospace" size="sm">
            {'{{firstName ?? you}}'}
          </Text>
        </Part>
        <Part title="Status">
          {STATUSES.map((kind) => (
            <Box key={kind} style={{ display: 'flex', flexWrap: 'wrap', gap: 12 }}>
              <Text size="xs" c="dimmed" w={90}>
                {kind}
              </Text>
              {listExplainedValues(kind).map((value) => (
                <WordBadge key={value} kind={kind} value={value} />
              ))}
            </Box>
          ))}
        </Part>
        <Controls />
        <Data />
        <States />
      </Stack>
    </>
  );
}
