import { Select, Stack, Textarea, TextInput } from '@mantine/core';
import {
  BEGINNING_KINDS,
  type Beginning,
  type BeginningKind,
  isBeginningValid,
  USUAL_VALUES,
} from './beginning.ts';
import { subscriptionsWords } from './strings.ts';

interface BeginningInputProps {
  readonly value: Beginning;
  readonly onChange: (value: Beginning) => void;
}

/** Where in the history of its topics a subscription begins: at brokers with streams. */
export function BeginningInput({ value: beginning, onChange }: BeginningInputProps) {
  const { kind, value } = beginning;
  const kinds = BEGINNING_KINDS.map((id) => ({ value: id, label: subscriptionsWords.beginnings[id] }));
  const choose = (entered: string | null): void => {
    const chosen: BeginningKind = BEGINNING_KINDS.find((id) => id === entered) ?? 'none';
    onChange({ kind: chosen, value: USUAL_VALUES[chosen] });
  };
  return (
    <Stack gap="xs">
      <Select
        label="Begin in the past"
        description="Of topics whose messages the broker keeps in a stream; $stream/name subscribes to all of them"
        data={kinds}
        value={kind}
        onChange={choose}
      />
      {hasValue(kind) && <Value kind={kind} value={value} onChange={onChange} />}
    </Stack>
  );
}

type ValueKind = Extract<BeginningKind, 'count' | 'span' | 'time' | 'position'>;

function hasValue(kind: BeginningKind): kind is ValueKind {
  return kind === 'count' || kind === 'span' || kind === 'time' || kind === 'position';
}

interface ValueProps {
  readonly kind: ValueKind;
  readonly value: string;
  readonly onChange: (value: Beginning) => void;
}

function Value({ kind, value, onChange }: ValueProps) {
  const isWrong = value !== '' && !isBeginningValid({ kind, value });
  const common = {
    label: subscriptionsWords.beginningValues[kind],
    description: subscriptionsWords.beginningHints[kind],
    error: isWrong ? 'The broker cannot read this.' : undefined,
    spellCheck: false,
    value,
    onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onChange({ kind, value: currentTarget.value }),
  };
  return kind === 'position' ? (
    <Textarea {...common} autosize minRows={1} maxRows={6} />
  ) : (
    <TextInput {...common} />
  );
}
