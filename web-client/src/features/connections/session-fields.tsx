import { Select } from '@mantine/core';
import type { ConnectionProfile } from '../../engine/types.ts';
import { OptionalNumberInput } from '../../ui/optional-number-input.tsx';
import { UserPropertiesInput } from '../../ui/user-properties-input.tsx';
import { type FieldsProps, Section, Wide } from './section.tsx';

const UINT16_MAX = 0xffff;
const UINT32_MAX = 0xffff_ffff;

/** The properties of CONNECT that MQTT 5 added. */
export function SessionFields({ form, onChange }: FieldsProps) {
  const { profile } = form;
  const disabled = profile.protocolVersion !== 5;
  const set = (changes: Partial<ConnectionProfile>): void =>
    onChange({ ...form, profile: { ...profile, ...changes } });
  const title = disabled ? 'Session and limits · MQTT 5.0 only' : 'Session and limits';
  return (
    <Section title={title}>
      <OptionalNumberInput
        label="Session expiry interval"
        description="How long the session outlives the connection; empty or 0: not at all"
        suffix=" s"
        max={UINT32_MAX}
        disabled={disabled}
        value={profile.sessionExpiryIntervalSeconds}
        onChange={(sessionExpiryIntervalSeconds) => set({ sessionExpiryIntervalSeconds })}
      />
      <OptionalNumberInput
        label="Receive maximum"
        description="QoS 1 and 2 messages that may be in flight to this client"
        min={1}
        max={UINT16_MAX}
        disabled={disabled}
        value={profile.receiveMaximum}
        onChange={(receiveMaximum) => set({ receiveMaximum })}
      />
      <OptionalNumberInput
        label="Maximum packet size"
        suffix=" bytes"
        min={1}
        max={UINT32_MAX}
        disabled={disabled}
        value={profile.maximumPacketSizeBytes}
        onChange={(maximumPacketSizeBytes) => set({ maximumPacketSizeBytes })}
      />
      <OptionalNumberInput
        label="Topic alias maximum"
        description="Aliases that the server may use towards this client"
        max={UINT16_MAX}
        disabled={disabled}
        value={profile.topicAliasMaximum}
        onChange={(topicAliasMaximum) => set({ topicAliasMaximum })}
      />
      <OptionalFlag
        label="Request response information"
        disabled={disabled}
        value={profile.requestResponseInformation}
        onChange={(requestResponseInformation) => set({ requestResponseInformation })}
      />
      <OptionalFlag
        label="Request problem information"
        disabled={disabled}
        value={profile.requestProblemInformation}
        onChange={(requestProblemInformation) => set({ requestProblemInformation })}
      />
      <Wide>
        <UserPropertiesInput
          label="User properties"
          disabled={disabled}
          value={profile.userProperties}
          onChange={(userProperties) => set({ userProperties })}
        />
      </Wide>
    </Section>
  );
}

interface OptionalFlagProps {
  readonly label: string;
  readonly disabled: boolean;
  readonly value: boolean | undefined;
  readonly onChange: (value: boolean | undefined) => void;
}

/** Yes, no, or not sent. */
function OptionalFlag({ label, disabled, value, onChange }: OptionalFlagProps) {
  return (
    <Select
      label={label}
      disabled={disabled}
      data={[
        { value: 'unset', label: 'Not sent' },
        { value: 'true', label: 'Yes' },
        { value: 'false', label: 'No' },
      ]}
      value={value === undefined ? 'unset' : String(value)}
      onChange={(entered) => onChange(entered === 'unset' ? undefined : entered === 'true')}
    />
  );
}
