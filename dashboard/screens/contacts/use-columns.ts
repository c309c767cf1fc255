import { useLocalStorage } from '@mantine/hooks';
import { useSession } from '../../app/session.ts';
import { readColumns, withColumn } from './columns.ts';

/** Returns the columns of the list, which this browser stores for each project. */
export function useColumns(): { columns: string[]; show: (name: string, shown: boolean) => void } {
  const { projectId } = useSession();
  const [columns, keep] = useLocalStorage<string[]>({
    key: `tidings-contact-columns:${projectId}`,
    defaultValue: readColumns(null),
    deserialize: (stored) => readColumns(stored ?? null),
    serialize: JSON.stringify,
    getInitialValueInEffect: false,
  });
  return { columns, show: (name, shown) => keep((before) => withColumn(before, name, shown)) };
}
