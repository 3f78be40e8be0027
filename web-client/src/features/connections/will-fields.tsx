import { Checkbox, Group, Switch, Textarea, TextInput } from '@mantine/core';
import type { WillProfile } from '../../engine/types.ts';
import { OptionalNumberInput } from '../../ui/optional-number-input.tsx';
import { QosInput } from '../../ui/qos-input.tsx';
import { UserPropertiesInput } from '../../ui/user-properties-input.tsx';
import { NEW_WILL } from './connection-form.ts';
import { type FieldsProps, Section, Wide } from './section.tsx';

/** The will, with its properties. */
export function WillFields({ form, onChange }: FieldsProps) {
  const { profile } = form;
  const { will } = profile;
  const set = (next: WillProfile | undefined): void =>
    onChange({ ...form, profile: { ...profile, will: next } });
  return (
    <Section title="Will">
      <Wide>
        <Switch
          label="Leave a will"
          description="The server publishes it when the connection is lost"
          checked={will !== undefined}
          onChange={(event) => set(event.currentTarget.checked ? NEW_WILL : undefined)}
        />
      </Wide>
      {will !== undefined && (
        <WillInputs will={will} isVersion5={profile.protocolVersion === 5} onChange={set} />
      )}
    </Section>
  );
}

interface WillInputsProps {
  readonly will: WillProfile;
  readonly isVersion5: boolean;
  readonly onChange: (will: WillProfile) => void;
}

function WillInputs({ will, isVersion5, onChange }: WillInputsProps) {
  const set = (changes: Partial<WillProfile>): void => onChange({ ...will, ...changes });
  return (
    <>
      <TextInput
        label="Topic"
        required
        spellCheck={false}
        value={will.topic}
        onChange={(event) => set({ topic: event.currentTarget.value })}
      />
      <Textarea
        label="Payload"
        autosize
        maxRows={6}
        spellCheck={false}
        value={will.payload}
        onChange={(event) => set({ payload: event.currentTarget.value })}
      />
      <Group align="flex-end" gap="md">
        <QosInput label="QoS" value={will.qos} onChange={(qos) => set({ qos })} />
        <Switch
          pb={6}
          label="Retain"
          checked={will.retain}
          onChange={(event) => set({ retain: event.currentTarget.checked })}
        />
      </Group>
      {isVersion5 && <WillPropertyInputs will={will} set={set} />}
    </>
  );
}

interface WillPropertyInputsProps {
  readonly will: WillProfile;
  readonly set: (changes: Partial<WillProfile>) => void;
}

function WillPropertyInputs({ will, set }: WillPropertyInputsProps) {
  const { properties } = will;
  const setProperties = (changes: Partial<WillProfile['properties']>): void =>
    set({ properties: { ...properties, ...changes } });
  return (
    <>
      <OptionalNumberInput
        label="Delay interval"
        suffix=" s"
        value={will.delayIntervalSeconds}
        onChange={(delayIntervalSeconds) => set({ delayIntervalSeconds })}
      />
      <OptionalNumberInput
        label="Message expiry interval"
        suffix=" s"
        value={properties.messageExpiryIntervalSeconds}
        onChange={(messageExpiryIntervalSeconds) => setProperties({ messageExpiryIntervalSeconds })}
      />
      <OptionalText
        label="Content type"
        value={properties.contentType}
        onChange={(contentType) => setProperties({ contentType })}
      />
      <OptionalText
        label="Response topic"
        value={properties.responseTopic}
        onChange={(responseTopic) => setProperties({ responseTopic })}
      />
      <OptionalText
        label="Correlation data"
        value={properties.correlationText}
        onChange={(correlationText) => setProperties({ correlationText })}
      />
      <Checkbox
        mt={26}
        label="The payload is UTF-8 text"
        checked={properties.payloadFormatIndicator === true}
        onChange={(event) =>
          setProperties({ payloadFormatIndicator: event.currentTarget.checked ? true : undefined })
        }
      />
      <Wide>
        <UserPropertiesInput
          label="User properties"
          value={properties.userProperties ?? []}
          onChange={(userProperties) => setProperties({ userProperties })}
        />
      </Wide>
    </>
  );
}

interface OptionalTextProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

/** Empty is not sent. */
function OptionalText({ label, value, onChange }: OptionalTextProps) {
  return (
    <TextInput
      label={label}
      spellCheck={false}
      value={value ?? ''}
      onChange={({ currentTarget: { value: entered } }) => onChange(entered === '' ? undefined : entered)}
    />
  );
}
