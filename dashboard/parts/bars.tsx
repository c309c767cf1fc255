import { Box, Group, Progress, Text, Tooltip } from '@mantine/core';
import { formatCount, formatShare } from './count-link.tsx';

export interface BarPart {
  label: string;
  n: number;
  color: string;
}

/** A bar whose parts add up to 100 %, with their names and numbers below it. */
export function StackedBar({ parts, label }: { parts: BarPart[]; label: string }) {
  const whole = parts.reduce((sum, { n }) => sum + n, 0);
  return (
    <Box role="group" aria-label={label}>
      <Progress.Root size="lg" aria-hidden>
        {parts.map(({ label: name, n, color }) => (
          <Tooltip key={name} label={`${name}: ${formatCount(n)}`}>
            <Progress.Section value={whole === 0 ? 0 : (100 * n) / whole} color={color} withAria={false} />
          </Tooltip>
        ))}
      </Progress.Root>
      <Group gap="md" mt={6}>
        {parts.map(({ label: name, n, color }) => (
          <Group key={name} gap={6} wrap="nowrap">
            <Box w={10} h={10} bg={color} style={{ borderRadius: 3, flex: 'none' }} aria-hidden />
            <Text size="sm">
              {name} {formatCount(n)}{' '}
              <Text span c="dimmed" size="sm">
                {formatShare(n, whole)}
              </Text>
            </Text>
          </Group>
        ))}
      </Group>
    </Box>
  );
}
