import { Select } from '@mantine/core';
import type { ConnectionProfile } from '../../engine/types.ts';
import { t } from '../../i18n/index.ts';
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
  const title = disabled
    ? `${t('connections.editor.session')} · ${t('connections.editor.onlyVersion5')}`
    : t('connections.editor.session');
  return (
    <Section title={title}>
      <OptionalNumberInput
        label={t('connections.editor.sessionExpiry')}
        description={t('connections.editor.sessionExpiryHint')}
        suffix={` ${t('connections.editor.seconds')}`}
        max={UINT32_MAX}
        disabled={disabled}
        value={profile.sessionExpiryIntervalSeconds}
        onChange={(sessionExpiryIntervalSeconds) => set({ sessionExpiryIntervalSeconds })}
      />
      <OptionalNumberInput
        label={t('connections.editor.receiveMaximum')}
        description={t('connections.editor.receiveMaximumHint')}
        min={1}
        max={UINT16_MAX}
        disabled={disabled}
        value={profile.receiveMaximum}
        onChange={(receiveMaximum) => set({ receiveMaximum })}
      />
      <OptionalNumberInput
        label={t('connections.editor.maximumPacketSize')}
        suffix={` ${t('connections.editor.bytes')}`}
        min={1}
        max={UINT32_MAX}
        disabled={disabled}
        value={profile.maximumPacketSizeBytes}
        onChange={(maximumPacketSizeBytes) => set({ maximumPacketSizeBytes })}
      />
      <OptionalNumberInput
        label={t('connections.editor.topicAliasMaximum')}
        description={t('connections.editor.topicAliasMaximumHint')}
        max={UINT16_MAX}
        disabled={disabled}
        value={profile.topicAliasMaximum}
        onChange={(topicAliasMaximum) => set({ topicAliasMaximum })}
      />
      <OptionalFlag
        label={t('connections.editor.requestResponse')}
        disabled={disabled}
        value={profile.requestResponseInformation}
        onChange={(requestResponseInformation) => set({ requestResponseInformation })}
      />
      <OptionalFlag
        label={t('connections.editor.requestProblem')}
        disabled={disabled}
        value={profile.requestProblemInformation}
        onChange={(requestProblemInformation) => set({ requestProblemInformation })}
      />
      <Wide>
        <UserPropertiesInput
          label={t('connections.editor.userProperties')}
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
        { value: 'unset', label: t('connections.editor.requestUnset') },
        { value: 'true', label: t('connections.editor.requestYes') },
        { value: 'false', label: t('connections.editor.requestNo') },
      ]}
      value={value === undefined ? 'unset' : String(value)}
      onChange={(entered) => onChange(entered === 'unset' ? undefined : entered === 'true')}
    />
  );
}
