import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { en } from './en/index.ts';

declare module 'i18next' {
  interface CustomTypeOptions {
    readonly defaultNS: 'translation';
    readonly resources: { readonly translation: typeof en };
  }
}

void i18next.use(initReactI18next).init({
  lng: 'en',
  fallbackLng: 'en',
  resources: { en: { translation: en } },
  // React escapes what it shows.
  interpolation: { escapeValue: false },
  initAsync: false,
});

export { i18next };
