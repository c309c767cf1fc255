import { Group, Paper, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import { CopyButton } from './copy-button.tsx';
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

/** A labeled id on one line, with a button that copies it. */
export function CopyableId({ name, value }: { name: string; value: string }) {
  return (
    <Fact name={name}>
      <Group gap={4} wrap="nowrap">
        <Text span ff="monospace" size="xs" lh="18px" truncate title={value}>
          {value}
        </Text>
        <CopyButton value={value} isSmall />
      </Group>
    </Fact>
  );
}
