import { Paper, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import classes from './facts.module.css';

/** A card of facts with a header: the names in one column, the values in another. */
export function Facts({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <Paper withBorder component="section" aria-labelledby={id}>
      <Title order={2} size="h5" id={id} className={classes.head}>
        {title}
      </Title>
      <div className={classes.facts}>{children}</div>
    </Paper>
  );
}

/** A labeled value. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <span className={classes.name}>{name}</span>
      <div className={classes.value}>{children}</div>
    </div>
  );
}
