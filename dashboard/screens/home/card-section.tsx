import { Paper, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** A section of Home as a card: its title and a link in the header, its rows below. */
export function CardSection({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <Paper withBorder component="section" aria-labelledby={id} className="names">
      <div className="card-head">
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {aside}
      </div>
      {children}
    </Paper>
  );
}
