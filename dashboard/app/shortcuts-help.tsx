import { Kbd, Modal, Table } from '@mantine/core';
import { text } from '../text/text.ts';
import { useSidebarLinks } from './nav.ts';
import { SEARCH_KEYS } from './shortcuts.ts';

/** Lists the keyboard shortcuts. The key `?` opens the list. */
export function ShortcutsHelp({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const nav = useSidebarLinks();
  const rows = [
    { keys: [SEARCH_KEYS, '/'], does: text.app.keySearch },
    { keys: ['?'], does: text.app.keys },
    ...nav.map(({ key, label }) => ({ keys: ['g', key], does: label })),
  ];
  return (
    <Modal opened={opened} onClose={onClose} title={text.app.keys} closeButtonProps={{ 'aria-label': text.app.close }}>
      <Table>
        <Table.Tbody>
          {rows.map(({ keys, does }) => (
            <Table.Tr key={does}>
              <Table.Td w={100}>
                {keys.map((key) => (
                  <Kbd key={key} mr={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
