import { Button, Combobox, Text, useCombobox } from '@mantine/core';
import { IconBraces } from '@tabler/icons-react';
import { useState } from 'react';
import { text } from '../../text/text.ts';
import type { Variable } from './variables.ts';

/** A menu of the variables for emails. A click inserts the variable at the cursor. */
export function VariableMenu({
  variables,
  onPick,
  disabled,
}: {
  variables: Variable[];
  onPick: (name: string) => void;
  disabled: boolean;
}) {
  const [typed, setTyped] = useState('');
  const box = useCombobox({
    onDropdownClose: () => {
      box.resetSelectedOption();
      box.focusTarget();
      setTyped('');
    },
    onDropdownOpen: () => box.focusSearchInput(),
  });
  const matches = variables.filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase()));
  return (
    <Combobox
      store={box}
      width={280}
      position="bottom-end"
      onOptionSubmit={(name) => {
        box.closeDropdown();
        onPick(name);
      }}
    >
      <Combobox.Target withAriaAttributes={false}>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconBraces size={14} aria-hidden />}
          onClick={() => box.toggleDropdown()}
          disabled={disabled}
          aria-haspopup="listbox"
          aria-expanded={box.dropdownOpened}
        >
          {text.emailEditor.addVariable}
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            box.updateSelectedOptionIndex();
          }}
          placeholder={text.emailEditor.addVariable}
          aria-label={text.emailEditor.addVariable}
        />
        <Combobox.Options
          mah={240}
          style={{ overflowY: 'auto' }}
          aria-label={text.emailEditor.addVariable}
          tabIndex={0}
        >
          {matches.map(({ name, about }) => (
            <Combobox.Option key={name} value={name}>
              <Text size="sm">{name}</Text>
              <Text size="xs" c="dimmed">
                {about}
              </Text>
            </Combobox.Option>
          ))}
          {matches.length === 0 && <Combobox.Empty>{text.emailEditor.noVariables}</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
