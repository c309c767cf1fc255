import { Box } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './refreshing.module.css';

/**
 * Keeps earlier data in view while newer data loads, with a thin moving line above it. The data keeps its full color:
 * a faded text has too little contrast to be read (WCAG 1.4.3).
 */
export function Refreshing({ isBusy, children }: { isBusy: boolean; children: ReactNode }) {
  return (
    <Box className={classes.refreshing} aria-busy={isBusy}>
      {children}
    </Box>
  );
}
