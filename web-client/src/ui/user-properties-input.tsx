import { Button, Group, Input, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import type { UserProperties } from '../engine/types.ts';
import { IconButton } from './icon-button.tsx';

interface UserPropertiesInputProps {
  readonly label: string;
  readonly value: UserProperties;
  readonly onChange: (value: UserProperties) => void;
  readonly disabled?: boolean;
}

/** Pairs of name and value, in order; a name may occur more than once. */
export function UserPropertiesInput({ label, value, onChange, disabled = false }: UserPropertiesInputProps) {
  const change = (index: number, pair: readonly [string, string]): void => onChange(value.with(index, pair));
  return (
    <Input.Wrapper label={label} labelElement="div" role="group" aria-label={label}>
      <Stack gap={4}>
        {value.map(([name, entry], index) => (
          // Pairs have no identity except their place.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <Group key={index} gap={4} wrap="nowrap">
            <TextInput
              flex={1}
              aria-label={`Name of property ${index + 1}`}
              placeholder="Name"
              value={name}
              disabled={disabled}
              onChange={(event) => change(index, [event.currentTarget.value, entry])}
            />
            <TextInput
              flex={2}
              aria-label={`Value of property ${index + 1}`}
              placeholder="Value"
              value={entry}
              disabled={disabled}
              onChange={(event) => change(index, [name, event.currentTarget.value])}
            />
            <IconButton
              label={`Remove property ${index + 1}`}
              disabled={disabled}
              onClick={() => onChange(value.toSpliced(index, 1))}
            >
              <IconX size={14} stroke={1.5} />
            </IconButton>
          </Group>
        ))}
        <Button
          variant="default"
          size="compact-xs"
          leftSection={<IconPlus size={12} />}
          disabled={disabled}
          w="fit-content"
          onClick={() => onChange([...value, ['', '']])}
        >
          Add a property
        </Button>
      </Stack>
    </Input.Wrapper>
  );
}
