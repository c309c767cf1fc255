import { Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A section of the page: a card with a title and actions. */
export function Section({ title, action, children }: { title: string; action?: ReactNode; children: ReactNode }) {
  return (
    <Paper withBorder component="section" aria-label={title}>
      <div className="card-head">
        <Title order={2} size="h4">
          {title}
        </Title>
        {action}
      </div>
      <div className="card-block">{children}</div>
    </Paper>
  );
}
