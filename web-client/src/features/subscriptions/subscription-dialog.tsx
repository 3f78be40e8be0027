import {
  Button,
  ColorSwatch,
  Divider,
  Fieldset,
  Group,
  Input,
  Modal,
  NumberInput,
  Select,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { COLORS, newSubscription } from '../../engine/new-profile.ts';
import type { ConnectionProfile, Subscription } from '../../engine/types.ts';
import { QosInput } from '../../ui/qos-input.tsx';
import { UserPropertiesInput } from '../../ui/user-properties-input.tsx';
import { beginningOf, isBeginningValid, otherProperties, withBeginning } from './beginning.ts';
import { BeginningInput } from './beginning-input.tsx';
import { conditionOf, withCondition, withoutCondition } from './condition.ts';
import { filterProblem, isTaken } from './filter-problem.ts';
import { subscriptionsWords } from './strings.ts';
import classes from './subscription-panel.module.css';

/** The largest number that a Variable Byte Integer holds (1.5.5). */
const IDENTIFIER_MAX = 268_435_455;

const HANDLINGS = [0, 1, 2] as const;

interface SubscriptionDialogProps {
  readonly profile: ConnectionProfile;
  /** Undefined for a new one. */
  readonly subscription: Subscription | undefined;
  readonly onSave: (subscription: Subscription) => void;
  readonly close: () => void;
}

/** A subscription with all of its options. */
export function SubscriptionDialog({ profile, subscription, onSave, close }: SubscriptionDialogProps) {
  const [form, setForm] = useState<Subscription>(
    () => subscription ?? newSubscription('', profile.subscriptions.length),
  );
  const [problem, setProblem] = useState<string>();
  const set = (changes: Partial<Subscription>): void => setForm({ ...form, ...changes });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const found = isTaken(form.filter, profile.subscriptions, form.id)
      ? 'There is a subscription to this filter already.'
      : filterProblem(form.filter);
    setProblem(found);
    if (found !== undefined || !isBeginningValid(beginningOf(form.userProperties))) return;
    onSave({ ...form, noLocal: form.noLocal && !isShared(form.filter) });
    close();
  };
  return (
    <Modal
      opened
      onClose={close}
      title={subscription === undefined ? 'New subscription' : 'Edit subscription'}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label="Topic filter"
            description="+ stands for one level, # for all that follow; $share/group/ in front shares the messages among a group"
            data-autofocus
            spellCheck={false}
            value={form.filter}
            error={problem}
            onChange={(event) => {
              set({ filter: event.currentTarget.value });
              setProblem(undefined);
            }}
          />
          <Group grow align="flex-start">
            <TextInput
              label="Alias"
              placeholder="A name for people"
              value={form.alias}
              onChange={(event) => set({ alias: event.currentTarget.value })}
            />
            <QosInput label="QoS" value={form.qos} onChange={(qos) => set({ qos })} />
          </Group>
          <ColorInput value={form.color} onChange={(color) => set({ color })} />
          {profile.protocolVersion === 5 && (
            <>
              <Divider label="Options of MQTT 5.0" labelPosition="left" />
              <OptionInputs form={form} set={set} />
            </>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit">{subscription === undefined ? 'Subscribe' : 'Save'}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function ColorInput({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (color: string) => void;
}) {
  return (
    <Input.Wrapper label="Colour" labelElement="div">
      <div className={classes.swatches} role="radiogroup" aria-label="Colour">
        {COLORS.map((color) => (
          <ColorSwatch
            key={color}
            component="button"
            type="button"
            role="radio"
            aria-checked={color === value}
            aria-label={subscriptionsWords.colors[color]}
            size={22}
            color={`var(--mantine-color-${color}-6)`}
            onClick={() => onChange(color)}
          >
            {color === value && <IconCheck size={14} color="#fff" />}
          </ColorSwatch>
        ))}
      </div>
    </Input.Wrapper>
  );
}

interface OptionInputsProps {
  readonly form: Subscription;
  readonly set: (changes: Partial<Subscription>) => void;
}

function OptionInputs({ form, set }: OptionInputsProps) {
  const { userProperties } = form;
  const beginning = beginningOf(userProperties);
  const condition = conditionOf(userProperties);
  const isSharedFilter = isShared(form.filter);
  return (
    <>
      {!isSharedFilter && (
        <BeginningInput
          value={beginning}
          onChange={(changed) => set({ userProperties: withBeginning(userProperties, changed) })}
        />
      )}
      <TextInput
        label="Only messages that fit"
        description="A condition in CEL, as payload.t > 80; at brokers that know where"
        spellCheck={false}
        value={condition}
        onChange={({ currentTarget: { value } }) =>
          set({ userProperties: withCondition(userProperties, value) })
        }
      />
      <Group grow align="flex-start">
        <Switch
          label="No local"
          description={
            isSharedFilter
              ? 'Not for shared subscriptions'
              : 'Leave out what this connection itself publishes'
          }
          disabled={isSharedFilter}
          checked={form.noLocal && !isSharedFilter}
          onChange={(event) => set({ noLocal: event.currentTarget.checked })}
        />
        <Switch
          label="Retain as published"
          description="Keep the retain flag as it was published"
          checked={form.retainAsPublished}
          onChange={(event) => set({ retainAsPublished: event.currentTarget.checked })}
        />
      </Group>
      <Select
        label="Retained messages"
        data={HANDLINGS.map((value) => ({
          value: String(value),
          label: `${value} · ${subscriptionsWords.retainHandlings[value]}`,
        }))}
        value={String(form.retainHandling)}
        onChange={(entered) =>
          set({ retainHandling: HANDLINGS.find((value) => String(value) === entered) ?? 0 })
        }
      />
      <IdentifierInput value={form.identifier} onChange={(identifier) => set({ identifier })} />
      <Fieldset variant="unstyled">
        <UserPropertiesInput
          label="User properties"
          value={withoutCondition(otherProperties(userProperties))}
          onChange={(others) =>
            set({ userProperties: withCondition(withBeginning(others, beginning), condition) })
          }
        />
      </Fieldset>
    </>
  );
}

interface IdentifierInputProps {
  readonly value: Subscription['identifier'];
  readonly onChange: (value: Subscription['identifier']) => void;
}

function IdentifierInput({ value, onChange }: IdentifierInputProps) {
  const isNumber = typeof value === 'number';
  return (
    <Group grow align="flex-end">
      <Select
        label="Subscription identifier"
        data={[
          { value: 'auto', label: 'Its own, by itself' },
          { value: 'none', label: 'None' },
          { value: 'number', label: 'This one' },
        ]}
        value={isNumber ? 'number' : value}
        onChange={(entered) => onChange(entered === 'number' ? 1 : entered === 'none' ? 'none' : 'auto')}
      />
      {isNumber && (
        <NumberInput
          label="Identifier"
          min={1}
          max={IDENTIFIER_MAX}
          allowDecimal={false}
          clampBehavior="strict"
          value={value}
          onChange={(entered) => onChange(typeof entered === 'number' && entered >= 1 ? entered : 1)}
        />
      )}
    </Group>
  );
}

/** No Local is a Protocol Error there [MQTT-3.8.3-4]. */
function isShared(filter: string): boolean {
  return filter.startsWith('$share/');
}
