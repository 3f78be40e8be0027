import { type GivenWorkload, WORKLOAD_FIELDS } from '@apus/cost';
import { NumberInput, Switch, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { QosInput } from '../../ui/qos-input.tsx';
import classes from './costs-view.module.css';

interface WorkloadFieldsProps {
  readonly workload: GivenWorkload;
  readonly onChange: (changes: GivenWorkload) => void;
}

const FIELDS = ['clients', 'hours', 'publishesPerHour', 'fanOut', 'bytes', 'subscriptions'] as const;

/** The fields of a workload that the user sets. The others have defaults, which the assumptions name. */
export function WorkloadFields({ workload, onChange }: WorkloadFieldsProps) {
  const { t } = useTranslation();
  const qos = workload.qos === 2 ? 2 : workload.qos === 1 ? 1 : 0;
  return (
    <section className={classes.card} aria-label={t('costs.workload')}>
      <Text component="h3" className={classes.heading}>
        {t('costs.workload')}
      </Text>
      <div className={classes.fields}>
        {FIELDS.map((name) => {
          const { least, most, isWhole = false, preset } = WORKLOAD_FIELDS[name];
          return (
            <NumberInput
              key={name}
              label={t(`costs.fields.${name}`)}
              min={least}
              max={most}
              allowDecimal={!isWhole}
              allowNegative={false}
              thousandSeparator=","
              hideControls
              suffix={name === 'bytes' ? ` ${t('costs.fields.bytesUnit')}` : ''}
              value={workload[name] ?? preset ?? least}
              onChange={(value) => onChange({ [name]: typeof value === 'number' ? value : undefined })}
            />
          );
        })}
        <QosInput label={t('costs.fields.qos')} value={qos} onChange={(value) => onChange({ qos: value })} />
        <Switch
          className={classes.wide}
          label={t('costs.fields.persistent')}
          checked={(workload.persistentShare ?? 0) > 0}
          onChange={(event) => onChange({ persistentShare: event.currentTarget.checked ? 1 : 0 })}
        />
      </div>
    </section>
  );
}
