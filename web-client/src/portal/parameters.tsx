import { useId } from 'react';
import type { PortalParameter } from './document/portal-document.ts';
import { givenValue, type Values } from './document/topic-of.ts';
import { text } from './strings.ts';

interface ParametersProps {
  readonly parameters: readonly PortalParameter[];
  readonly values: Values;
  onChange(values: Values): void;
}

/** Fields for the variable levels. */
export function Parameters({ parameters, values, onChange }: ParametersProps) {
  return (
    <>
      <p>{text.parameterHelp}</p>
      <div className="fields">
        {parameters.map((parameter) => (
          <Field
            key={parameter.name}
            parameter={parameter}
            value={givenValue(values, parameter.name)}
            onChange={(value) => onChange({ ...values, [parameter.name]: value })}
          />
        ))}
      </div>
    </>
  );
}

interface FieldProps {
  readonly parameter: PortalParameter;
  readonly value: string;
  onChange(value: string): void;
}

function Field({ parameter: { name, description, values, isEnum }, value, onChange }: FieldProps) {
  const id = useId();
  const common = { id, 'aria-describedby': `${id}-help`, value };
  return (
    <div className="field">
      <label htmlFor={id}>
        <code>{name}</code>
      </label>
      {isEnum ? (
        <select {...common} onChange={({ target }) => onChange(target.value)}>
          <option value="">{text.allValues}</option>
          {values.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      ) : (
        <>
          <input
            {...common}
            list={`${id}-values`}
            spellCheck={false}
            autoCapitalize="off"
            onChange={({ target }) => onChange(target.value)}
          />
          <datalist id={`${id}-values`}>
            {values.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </>
      )}
      <span className="quiet" id={`${id}-help`}>
        {description}
        {!isEnum && values.length > 0 && <span className="line">{text.forExample(values.join(', '))}</span>}
      </span>
    </div>
  );
}
