import { Box, Group, Progress, Text, Tooltip } from '@mantine/core';
import { formatCount, formatShare } from './count-link.tsx';

export interface BarPart {
  label: string;
  n: number;
  color: string;
}

/** A bar whose parts add up to 100 %, with their names and numbers below it. */
export function StackedBar({ parts, label, whole: caption }: { parts: BarPart[]; label: string; whole?: string }) {
  const total = parts.reduce((sum, { n }) => sum + n, 0);
  return (
    <Box role="group" aria-label={label}>
      <Progress.Root size={6} aria-hidden>
        {parts.map(({ label: name, n, color }) => (
          <Tooltip key={name} label={`${name}: ${formatCount(n)}`}>
            <Progress.Section value={total === 0 ? 0 : (100 * n) / total} color={color} withAria={false} />
          </Tooltip>
        ))}
      </Progress.Root>
      <Group gap="4px 16px" mt={8}>
        {parts.map(({ label: name, n, color }) => (
          <Group key={name} gap={6} wrap="nowrap">
            <Box w={8} h={8} bg={color} style={{ borderRadius: 2, flex: 'none' }} aria-hidden />
            <Text size="xs" c="dimmed" title={formatShare(n, total)}>
              {name}{' '}
              <Text span inherit c="var(--color-text)" fw={500}>
                {formatCount(n)}
              </Text>
            </Text>
          </Group>
        ))}
        {caption && (
          <Text size="xs" c="dimmed" ml="auto">
            {caption}
          </Text>
        )}
      </Group>
    </Box>
  );
}
