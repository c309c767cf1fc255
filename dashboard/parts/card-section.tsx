import { Group, Paper, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A section of a screen as a card. The header has the title, `subtitle` beside the title, and `aside` at its end. */
export function CardSection({
  title,
  subtitle,
  aside,
  className,
  isPadded = false,
  children,
}: {
  title: string;
  subtitle?: ReactNode;
  aside?: ReactNode;
  className?: string | undefined;
  /** Puts space around the children. Rows and tables need none, because their cells have it. */
  isPadded?: boolean;
  children: ReactNode;
}) {
  return (
    <Paper withBorder component="section" aria-label={title} className={className}>
      <div className="card-head">
        <Group gap="0 10px" align="baseline">
          <Title order={2} size="h4">
            {title}
          </Title>
          {subtitle && (
            <Text size="sm" c="dimmed">
              {subtitle}
            </Text>
          )}
        </Group>
        {aside}
      </div>
      {isPadded ? <div className="card-block">{children}</div> : children}
    </Paper>
  );
}
