// SPDX-License-Identifier: Apache-2.0
// Numbers and times as people read them. Pure.

export const NOTHING = '–';

// A share from 0 to 1. A share below 1 is never shown as 100%, and a share above 0 never as 0%. The
// sidecar's sentences round in the same way.
export function percent(share) {
  const value = share * 100;
  if (value >= 100) return '100%';
  if (value <= 0) return '0%';
  if (value > 99) return `${Math.min(Math.floor(value * 100) / 100, 99.99)}%`;
  return value < 1 ? `${Math.ceil(value * 100) / 100}%` : `${Math.round(value)}%`;
}

const grouped = new Intl.NumberFormat('en', {maximumFractionDigits: 0});

// 1234 -> "1,234".
export function count(number) {
  return grouped.format(number);
}

// Per second, or of what a budget holds: one decimal where that says something.
export function rate(number) {
  if (number === 0) return '0';
  if (number < 0.05) return '<0.1';
  return number < 99.95 ? String(Number(number.toFixed(1))) : count(number);
}

export function amplification(number) {
  return number.toFixed(2);
}

// "512 B", "1.5 KiB", "64 MiB".
export function bytes(number) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  const unit = Math.min(Math.floor(Math.log2(Math.max(number, 1)) / 10), units.length - 1);
  return `${rate(number / 1024 ** unit)} ${units[unit]}`;
}

// How long something took: "850 µs", "12 ms", "1.25 s".
export function duration(seconds) {
  if (!(seconds > 0)) return NOTHING;
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 0.01) return `${Number((seconds * 1000).toFixed(1))} ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 60 ? `${Number(seconds.toFixed(2))} s` : age(seconds);
}

// How long something has lasted: "40 s", "3 min 20 s", "5 h 2 min", "3 d 4 h".
export function age(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const units = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];
  const first = units.findIndex(([, size]) => whole >= size);
  if (first < 0) return '0 s';
  return units.slice(first, first + 2)
      .map(([name, size], i) => [Math.floor(i === 0 ? whole / size
                                                    : whole % units[first][1] / size), name])
      .filter(([number], i) => i === 0 || number > 0)
      .map(([number, name]) => `${number} ${name}`).join(' ');
}

const two = (number) => String(number).padStart(2, '0');

// "14:02:11", by the browser's clock face; `seconds` since 1970.
export function clock(seconds) {
  const time = new Date(seconds * 1000);
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

// The same with its day, for what may be long ago.
export function moment(seconds) {
  const time = new Date(seconds * 1000);
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${clock(seconds)}`;
}

// "UTC+2", "UTC-3:30"; `minutes` as of Date.getTimezoneOffset().
export function zone(minutes) {
  if (minutes === 0) return 'UTC';
  const ahead = Math.abs(minutes);
  const rest = ahead % 60 === 0 ? '' : `:${two(ahead % 60)}`;
  return `UTC${minutes < 0 ? '+' : '-'}${Math.floor(ahead / 60)}${rest}`;
}

// "1 endpoint", "2 endpoints".
export function plural(number, word) {
  return `${count(number)} ${word}${number === 1 ? '' : 's'}`;
}
